import { PerdureError } from "../../protocol/errors.ts";
import { hintOf, startVerb, type Hint } from "../../protocol/hint.ts";
import type { Restored } from "../../protocol/records/restored.ts";
import type { Conversation } from "../../store/conversations.ts";
import type { Worker } from "../../store/workers.ts";

/** The findings about the stem of a branch that has yet to begin. */
export interface StemProbe {
  stemId: number;
  /** The fault of the stem, as the end of a sentence; null if a branch gets all that was said in it. */
  fault: string | null;
  /** The advice about the fault; null where the stem is no worker's any more. */
  remedy: Hint | null;
  restored: Restored | null;
}

/**
 * Returns the id of the conversation that the worker's next start branches: that of a fork, or of a branch in which nothing was
 * written yet; null for any other worker.
 */
export function stemIdOf(worker: Worker, bound: Conversation | null): number | null {
  if (worker.forkOf !== null) return worker.forkOf;
  return bound !== null && bound.transcriptBytes === null ? bound.forkedFrom : null;
}

/** Throws if the stem is not what it was when it was last seen: the branch would begin without a part of it. */
export function assertWholeStem(
  { address, worker, stem }: { address: string; worker: Worker; stem: StemProbe | null },
  { id, vendor, vendorId }: Conversation,
): void {
  if (stem?.stemId !== id) throw new StemChanged();
  if (stem.fault === null) return;
  const fresh = hintOf`start over: ${startVerb(worker.name, worker.fleet !== null, "--fresh")}`;
  throw new PerdureError("refused", stemMessage(address, { vendor, vendorId }, stem.fault), {
    hint: stem.remedy === null ? fresh : hintOf`${stem.remedy}; or ${fresh}`,
    details: { session: vendorId, vendor, unresumable: true },
  });
}

/** Says why a conversation is not branched. */
export function stemMessage(
  address: string,
  { vendor, vendorId }: Pick<Conversation, "vendor" | "vendorId">,
  fault: string,
): string {
  return `The ${vendor} conversation ${vendorId}, which ${address} was to branch, ${fault}.`;
}

/** The worker is to branch another conversation than the one that was looked at before the change. */
export class StemChanged extends Error {}
