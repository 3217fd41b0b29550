import type { ControlClient } from "./control.ts";
import { endUnknown, PANE_ROW, parsePanes, type Pane } from "./panes.ts";

/** Every pane of the server, now. */
export async function listPanes(client: ControlClient): Promise<Pane[]> {
  const { panes, serverPid } = await list(client);
  if (!panes.some(endUnknown)) return panes;
  // tmux 3.3a misses a child's end now and then: the next signal makes it look, and it was just this process that answered.
  process.kill(serverPid, "SIGCHLD");
  return (await list(client)).panes;
}

async function list(client: ControlClient): Promise<{ panes: Pane[]; serverPid: number }> {
  const [rows = [], [pid = ""] = []] = await client.send(
    ["list-panes", "-a", "-F", PANE_ROW],
    ["display-message", "-p", "#{pid}"],
  );
  return { panes: parsePanes(rows.join("")), serverPid: Number(pid) };
}
