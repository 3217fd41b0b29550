import { TURN_LOG_BYTES } from "../../limits/index.ts";
import { messageById } from "../../store/messages.ts";
import type { Run } from "../../store/runs.ts";
import { turnOfRun } from "../../store/turns.ts";
import { workerById } from "../../store/workers.ts";
import { adapterOf } from "../../vendors/index.ts";
import type { TurnProgress } from "../../vendors/turn.ts";
import { turnFiles } from "./files.ts";
import { endOfFile, endOfStderr } from "./output.ts";
import type { TurnServices } from "./services.ts";

/**
 * Tells, for people, what a turn was begun for, what its agent has shown, and, once it is over, what came of it; null for a run that is
 * none. It only grows, so that it can be followed.
 */
export function turnLog(services: Pick<TurnServices, "db" | "runs">, run: Run): { text: string; live: boolean } | null {
  const turn = run.turn === 1 ? turnOfRun(services.db, run.id) : null;
  const facet = adapterOf(workerById(services.db, run.workerId)?.vendor ?? "")?.turn;
  // The name is claimed, and what is to be told is not yet on record.
  if (turn === null && run.turn === 1 && run.endedMs === null) return { text: "", live: true };
  if (turn === null || !facet) return null;
  const files = turnFiles(services.runs.runDir(run.id));
  const reader = facet.reader();
  const { text, isCut } = endOfFile(files.stdout, TURN_LOG_BYTES);
  // The line in which it was cut is none that the reader knows.
  const shown = reader.push(text);
  const stderr = turn.outcome === "failed" || turn.outcome === "returned" ? endOfStderr(files.stderr).trimEnd() : "";
  const lines = [
    ...turn.messages.map((id) => `← ${id} from ${messageById(services.db, id)?.fromName ?? "somebody"}`),
    ...(isCut ? ["… what it has shown before is in the file", files.stdout] : []),
    ...shown.map(line),
    ...(stderr === "" ? [] : [stderr]),
    ...(turn.outcome === null ? [] : [`${turn.outcome}${turn.reason === null ? "" : `: ${turn.reason}`}`]),
  ];
  return { text: lines.join("\n"), live: turn.outcome === null };
}

function line(progress: TurnProgress): string {
  return progress.kind === "tool" ? `· ${progress.name}` : progress.text;
}
