import { isRefusedByVendor, unseenRefusal } from "../../../core/refused-start.ts";
import { REFUSED_START_MS } from "../../../limits/index.ts";
import { conversationOfRun, lastEntryOfRun } from "../../../store/conversations.ts";
import { workerById, type Worker } from "../../../store/workers.ts";
import type { Run } from "../../../store/runs.ts";
import { adapterOf } from "../../../vendors/index.ts";
import { refusalOn } from "../../../vendors/shared/screen.ts";
import { sha256 } from "../../../util/sha256.ts";
import type { BaseServices } from "../../base-services.ts";
import { recordEvent, recordUnresumable } from "../../events.ts";

/**
 * Records that the vendor's program refused to resume the worker's conversation, if it did: the next start would end in the same
 * way. `screen` is the last screen of a run in a pane; null for one in a terminal of its own. Returns whether the program refused.
 */
export async function recordRefusedStart(services: BaseServices, run: Run, screen: string | null): Promise<boolean> {
  const worker = workerById(services.db, run.workerId);
  const entry = lastEntryOfRun(services.db, run.id);
  const conversation = conversationOfRun(services.db, run.id);
  if (!worker || !entry || !conversation || worker.conversationId !== conversation.id) return false;
  const { vendor, vendorId: session } = conversation;
  const words = screen === null ? null : refusalOn(screen, adapterOf(vendor)?.storage.refusals);
  const ranMs = (run.endedMs ?? run.startedMs) - run.startedMs;
  const options = optionsDigest(worker);
  const end = {
    resumesUnproved: entry.began === "resume" && entry.proved === "pending",
    exit: run.exit,
    requested: run.stoppedBy !== null || run.displacedMs !== null,
    ranMs,
    optionsProved: options !== null && options === worker.provedOptions,
    words,
    hasScreen: screen !== null,
  };
  if (!isRefusedByVendor(end, REFUSED_START_MS)) return false;
  const why = `${vendor} did not resume its conversation ${session}: ${words ?? unseenRefusal(run.exit, ranMs)}`;
  await services.writer.write(() => {
    // A later start may have begun meanwhile.
    if (workerById(services.db, worker.id)?.lease.generation !== run.generation) return;
    recordUnresumable(services, worker, why);
    const subject = { projectId: worker.projectId, workerId: worker.id, run: run.id, generation: run.generation };
    recordEvent(services, "session.refused", subject, { session, exit: run.exit, words });
  });
  return true;
}

/** Returns a digest of the user's options of the worker's last start, without what was said; null without an adapter that knows them. */
export function optionsDigest({ vendor, command, programAt }: Worker): string | null {
  const options = adapterOf(vendor ?? "")?.launch.options?.((command ?? []).slice((programAt ?? 0) + 1));
  return options === undefined ? null : sha256(JSON.stringify(options));
}
