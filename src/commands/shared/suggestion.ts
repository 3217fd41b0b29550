import type { WorkerSummary } from "../../protocol/records/worker.ts";
import type { AttentionItem } from "./attention-list.ts";

interface Suggestion {
  command: string;
  /** Empty when it has just been told. */
  why: string;
}

/** The one command that makes most sense now. */
export function suggestCommand({
  needs,
  workers,
  down,
  fleet,
}: {
  needs: readonly AttentionItem[];
  workers: readonly WorkerSummary[];
  /** Of the fleet file's workers, those that do not run. */
  down: readonly string[];
  /** How many the fleet file names. */
  fleet: number;
}): Suggestion {
  const [first] = needs;
  if (first) return { command: first.command, why: "" };
  const coming = workers.some(isStarting);
  const waiting = down.filter((name) => !workers.some((worker) => worker.name === name && isStarting(worker)));
  if (waiting.length > 0) return { command: "perdure up", why: downText(waiting, fleet) };
  const inPane = workers.find(({ mode, run }) => mode === "tmux" && run !== null);
  if (inPane) return { command: `perdure attach ${inPane.name}`, why: "go to its terminal; Ctrl-b d leaves it again" };
  if (coming) return { command: "perdure ls --watch", why: "see them come up" };
  const stopped = workers.find(({ run }) => run === null);
  if (stopped) return { command: `perdure run ${stopped.name}`, why: "start it again, in its own conversation" };
  const [running] = workers;
  if (running) return { command: `perdure show ${running.name}`, why: "everything about it" };
  return { command: "perdure init", why: "write a fleet file; or one agent alone: perdure run NAME -- COMMAND" };
}

function isStarting({ state }: WorkerSummary): boolean {
  return state === "starting" || state === "backing-off";
}

function downText(down: readonly string[], fleet: number): string {
  if (down.length === fleet) return fleet === 1 ? "start it" : `start all ${fleet} of perdure.toml`;
  const some = down.length > 3 ? `${down.slice(0, 3).join(", ")} and ${down.length - 3} more` : down.join(", ");
  return `${some} of perdure.toml ${down.length === 1 ? "is" : "are"} not up`;
}
