import { hostname } from "node:os";
import type { ProcessTable } from "../process/index.ts";
import type { ControlClient } from "./control-client.ts";

const PLACE_OPTION = "@perdure_place";

/** Makes the command with which a new server is told the pid namespace that it is started in. */
export function serverMark(namespace: string): string[] {
  return ["set-option", "-q", "-s", PLACE_OPTION, `${namespace} ${hostname()}`];
}

/**
 * Returns, for people, where the server is, if its pids count in another pid namespace than ours; null if they count here.
 * A server of an older perdure has no mark; it is here if a tmux has its pid here.
 */
export async function findElsewhere(
  client: ControlClient,
  processes: Pick<ProcessTable, "namespace" | "inspect">,
): Promise<string | null> {
  const [[mark = ""] = [], [pid = ""] = []] = await client.send(
    ["show-options", "-q", "-s", "-v", PLACE_OPTION],
    ["display-message", "-p", "#{pid}"],
  );
  if (mark === "") return processes.inspect(Number(pid))?.command.startsWith("tmux") ? null : "not recorded";
  if (mark.startsWith(`${processes.namespace()} `)) return null;
  const [namespace, , host] = mark.split(" ");
  return `${namespace} of ${host}`;
}
