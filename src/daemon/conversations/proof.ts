import type { Transcript } from "../../protocol/records/conversation.ts";
import type { RunRow } from "../../store/runs.ts";
import { lastSessionOfRun, sessionOfRun } from "../../store/conversations.ts";
import { workerById, type WorkerRow } from "../../store/workers.ts";
import { adapterOf } from "../../vendors/index.ts";
import type { House, Watched } from "../services.ts";
import { probeSession } from "./probe.ts";
import { storedCommand } from "../launch/spec.ts";
import { noteTranscript, prove } from "./bindings.ts";

/**
 * Inside a change, after the run ended. What it wrote is proof too, for one that was over before it could be looked at: the
 * transcript of this id has grown, and nobody else writes there. A headless one that did its work and wrote
 * nothing there has written it somewhere else.
 */
export function settleProof(house: Pick<House, "db" | "now" | "processes">, run: RunRow, transcript: Transcript): void {
  const entry = lastSessionOfRun(house.db, run.id);
  const session = sessionOfRun(house.db, run.id);
  const worker = workerById(house.db, run.worker_id);
  if (!entry || !session || !worker) return;
  const before = entry.bytes_before;
  const bytes = transcript.state === "good" ? transcript.bytes : 0;
  if (entry.proved === "pending" && bytes > (before ?? 0)) {
    const evidence = before === null ? "transcript written" : `transcript grew from ${before} to ${bytes} bytes`;
    prove(house, worker, run, session, true, evidence);
  } else if (entry.proved === "pending" && run.exit === 0 && isHeadless(worker)) {
    prove(house, worker, run, session, false, "ended well and wrote nothing to its conversation");
  }
  if (transcript.state === "good" && bytes > (session.transcript_bytes ?? 0)) {
    noteTranscript(house, session, transcript);
  }
}

/** Whether nobody sits in front of what the worker was started with last. */
export function isHeadless(worker: WorkerRow): boolean {
  const args = (storedCommand(worker) ?? []).slice((worker.program_at ?? 0) + 1);
  return worker.vendor !== null && (adapterOf(worker.vendor)?.launch.readArgs(args).headless ?? false);
}

/** Nobody saw it begin, and now it is elsewhere; but it has written to the one it should have begun in. */
export async function proveByTranscript(house: Watched, run: RunRow): Promise<void> {
  const session = sessionOfRun(house.db, run.id);
  const entry = lastSessionOfRun(house.db, run.id);
  if (!session || entry?.proved !== "pending" || session.provenance === "minted") return;
  const transcript = await probeSession(house, session);
  await house.writer.write(() => settleProof(house, run, transcript));
}
