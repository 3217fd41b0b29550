import type { WorkerSummary } from "../../protocol/records/worker.ts";
import type { AttentionItem } from "../shared/table/attention-list.ts";

interface Suggestion {
  command: string;
  /** Empty when the list of what needs a person has just said it. */
  why: string;
}

/** The command that keeps the list of workers on the screen. */
export const WATCH = "perdure ls --watch";

/** Returns the one command that makes most sense now. */
export function suggestCommand({
  attention,
  workers,
  down,
  fleetSize,
  leaving,
  isWorker = false,
}: {
  attention: readonly AttentionItem[];
  workers: readonly WorkerSummary[];
  /** The names of the fleet file's workers that do not run. */
  down: readonly string[];
  /** The number of workers in the fleet file. */
  fleetSize: number;
  /** The keys that leave a worker's terminal; null where none are to be told. */
  leaving: string | null;
  /** A worker asks, which may not go to another one's terminal. */
  isWorker?: boolean;
}): Suggestion {
  if (isWorker) return { command: "perdure inbox", why: "your mail; to write to another: perdure send NAME TEXT" };
  const leaves = leaving === null ? "" : `; ${leaving} leaves it again`;
  const [first] = attention;
  if (first) return { command: first.command, why: "" };
  const stillDown = down.filter((name) => !workers.some((worker) => worker.name === name && isStarting(worker)));
  if (stillDown.length > 0) return { command: "perdure up", why: downText(stillDown, fleetSize) };
  const inPane = workers.find(({ mode, run }) => mode === "tmux" && run !== null);
  if (inPane) return { command: `perdure attach ${inPane.name}`, why: `go to its terminal${leaves}` };
  if (workers.some(isStarting)) return { command: WATCH, why: "watch them start" };
  const stopped = workers.find(({ run }) => run === null);
  if (stopped) return { command: `perdure run ${stopped.name}`, why: "start it again, in its own conversation" };
  const [running] = workers;
  if (running) return { command: `perdure show ${running.name}`, why: "everything about it" };
  return { command: "perdure init", why: "a fleet of what is found here; of one agent: perdure up NAME -- COMMAND" };
}

function isStarting({ state }: WorkerSummary): boolean {
  return state === "starting" || state === "backing-off";
}

function downText(down: readonly string[], fleetSize: number): string {
  if (down.length === fleetSize) return fleetSize === 1 ? "start it" : `start all ${fleetSize} of perdure.toml`;
  const some = down.length > 4 ? `${down.slice(0, 3).join(", ")} and ${down.length - 3} more` : down.join(", ");
  return `${some} of perdure.toml ${down.length === 1 ? "is" : "are"} not up`;
}
