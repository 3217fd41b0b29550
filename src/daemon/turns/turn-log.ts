import { TURN_LOG_BYTES } from "../../limits/index.ts";
import { readBytesUpToIfReadable } from "../../state/bounded-read.ts";
import { messageById } from "../../store/messages.ts";
import type { Run } from "../../store/runs.ts";
import { turnOfRun } from "../../store/turns.ts";
import { workerById } from "../../store/workers.ts";
import { adapterOf } from "../../vendors/index.ts";
import type { TurnProgress } from "../../vendors/turn.ts";
import { turnFiles } from "./files.ts";
import { endOfStderr } from "./output.ts";
import type { TurnServices } from "./services.ts";

/** Tells, for people, what a turn was begun for, what its agent has shown, and what came of it; null for a run that is none. */
export function turnLog(services: Pick<TurnServices, "db" | "runs">, run: Run): string | null {
  const turn = run.turn === 1 ? turnOfRun(services.db, run.id) : null;
  const facet = adapterOf(workerById(services.db, run.workerId)?.vendor ?? "")?.turn;
  if (turn === null || !facet) return null;
  const files = turnFiles(services.runs.runDir(run.id));
  const reader = facet.reader();
  const shown = reader.push(readBytesUpToIfReadable(files.stdout, TURN_LOG_BYTES)?.toString("utf8") ?? "");
  const stderr = turn.outcome === "failed" || turn.outcome === "returned" ? endOfStderr(files.stderr).trimEnd() : "";
  return [
    ...turn.messages.map((id) => `← ${id} from ${messageById(services.db, id)?.fromName ?? "somebody"}`),
    ...shown.map(line),
    ...(stderr === "" ? [] : [stderr]),
    turn.outcome === null ? "… the turn goes on" : `${turn.outcome}${turn.reason === null ? "" : `: ${turn.reason}`}`,
  ].join("\n");
}

function line(progress: TurnProgress): string {
  return progress.kind === "tool" ? `· ${progress.name}` : progress.text;
}
