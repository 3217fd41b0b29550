import { hintOf, verb } from "../../protocol/hint.ts";
import { boundConversation, conversationById, type Conversation } from "../../store/conversations.ts";
import { workerById, type Worker } from "../../store/workers.ts";
import { decideStart } from "./plan.ts";
import { probeBinding, type ConversationProbe } from "./probe-binding.ts";
import type { LaunchServices } from "./services.ts";
import type { StemProbe } from "./stem.ts";

/**
 * Probes the stem as a start of its own worker would: a branch gets what its vendor finds of the stem, so what was lost is put back
 * before, and a stem that lacks something is not branched. One that is in use, or is drilled, stays as it is.
 */
export async function probeStem(
  services: LaunchServices,
  stemId: number,
  { drill = false }: { drill?: boolean } = {},
): Promise<StemProbe | null> {
  const stem = conversationById(services.db, stemId);
  if (stem === null) return null;
  const owner = workerById(services.db, stem.workerId);
  const isBound = owner !== null && boundConversation(services.db, owner)?.id === stem.id;
  const isInUse = isBound && owner.holderRun !== null;
  const readOnly = drill || isInUse ? ({ drill: true } as const) : {};
  const probe = await probeBinding(services, stem, { ...readOnly, resumes: false });
  // The branch's own start does not wait for it: that waits for the copy of what it resumes.
  await probe.copied;
  // What its user has put away is found by the vendor, and nothing was read of it.
  if (probe.archived !== null) return { stemId, fault: null, remedy: null, restored: null };
  const { restored } = probe;
  const fault = isInUse && restored !== null ? "is gone" : faultOf(services, stem, owner, probe);
  const remedy = !isBound || owner.retiredMs !== null ? null : hintOf`see what helps: ${verb("drill", owner.name)}`;
  return { stemId, fault, remedy, restored };
}

/** Decides by the rules for a resume of the stem; that it is open somewhere keeps nobody from branching it. */
function faultOf(
  services: LaunchServices,
  stem: Conversation,
  owner: Worker | null,
  probe: ConversationProbe,
): string | null {
  if (owner === null) return probe.transcript?.state === "good" ? null : "is gone";
  const decision = decideStart(
    services,
    { address: owner.name, worker: owner, bound: stem },
    { ...probe, holder: null, unwritable: null, obstacle: null },
    { vendor: stem.vendor, noConversation: false, fresh: false, accept: false, otherConfig: null, unwritable: null },
  );
  if (decision.step === "refuse") return `cannot be resumed whole. ${decision.message.replace(/\.$/, "")}`;
  return decision.step === "resume" ? null : "is gone";
}
