import type { CallParams, CallResults } from "../../../protocol/calls/index.ts";
import { PerdureError } from "../../../protocol/errors.ts";
import { verb } from "../../../protocol/hint.ts";
import type { Restored } from "../../../protocol/records/restored.ts";
import { boundConversation, conversationById, type Conversation } from "../../../store/conversations.ts";
import { setUnresumable, workerById } from "../../../store/workers.ts";
import { recordEvent } from "../../events.ts";
import { describeConversation } from "../../status/describe.ts";
import { assertStopped } from "../../names/claim-refusals.ts";
import { openersOf } from "../../conversations/probe/probe.ts";
import { assertRestorable } from "../../launch/writable.ts";
import { findWorker } from "../../names/lookup.ts";
import type { Services } from "../../services.ts";
import type { CallContext } from "../context.ts";

/** Restores the copy of a conversation because the operator asked for it; the vendor's file is set aside, not deleted. */
export async function restoreConversationCall(
  params: CallParams<"restoreConversation">,
  { services }: CallContext,
): Promise<CallResults["restoreConversation"]> {
  const { worker, address } = findWorker(services, params.target);
  const conversation = boundConversation(services.db, worker);
  const assertUnused = async (): Promise<void> => {
    const holders = conversation ? await openersOf(services, conversation) : [];
    const now = workerById(services.db, worker.id);
    if (now) assertStopped(services, now);
    const [holder] = holders;
    if (!holder) return;
    throw new PerdureError("refused", `The conversation of ${address} is open in pid ${holder.pid}.`, {
      hint: `quit it in pid ${holder.pid} first`,
    });
  };
  await assertUnused();
  if (conversation) assertRestorable(address, worker, conversation);
  const restored = conversation && (await restoreOwn(services, conversation, assertUnused));
  if (!conversation || !restored) {
    throw new PerdureError("not-found", `perdure has no intact copy of the conversation of ${address}.`, {
      hint: verb("history", worker.name),
    });
  }
  await services.writer.write(() => {
    setUnresumable(services.db, worker.id, null);
    recordEvent(services, "worker.restored", { projectId: worker.projectId, workerId: worker.id });
  });
  return {
    address,
    restored,
    session: describeConversation(services, worker, conversationById(services.db, conversation.id) ?? conversation),
  };
}

/** Puts back the worker's own side of a transcript that others have written to, or else the copy. */
async function restoreOwn(
  { custody }: Services,
  conversation: Conversation,
  assertUnused: () => Promise<void>,
): Promise<Restored | null> {
  const own = await custody.restoreOwnBranch(conversation, assertUnused);
  if (own === null) return custody.restore(conversation, { all: true, assertUnused });
  await custody.replaceCopy(conversation.id);
  return own;
}
