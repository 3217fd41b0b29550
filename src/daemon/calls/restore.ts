import type { CallParams, CallResults } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { sessionById } from "../../store/conversations.ts";
import { setUnresumable, workerById } from "../../store/workers.ts";
import { describeSession } from "../names/describe.ts";
import { assertStopped } from "./adopt.ts";
import { placeOf } from "../conversations/probe.ts";
import { findWorker } from "../names/lookup.ts";
import { adapterOf } from "../../vendors/index.ts";
import type { CallContext } from "./context.ts";

/** By the operator's word: what the vendor has may be damaged, or changed, and is set aside, not deleted. */
export async function restoreConversationCall(
  params: CallParams<"restoreConversation">,
  { house }: CallContext,
): Promise<CallResults["restoreConversation"]> {
  const { worker, address } = findWorker(house, params.target);
  const session = worker.session_id === null ? null : sessionById(house.db, worker.session_id);
  const assertUnused = (): void => {
    const now = workerById(house.db, worker.id);
    if (now) assertStopped(house, now);
    const [holder] = session ? (adapterOf(session.vendor)?.holders(placeOf(session), house.processes) ?? []) : [];
    if (!holder) return;
    throw new PerdureError("refused", `The conversation of ${address} is open in pid ${holder.pid}.`, {
      hint: "leave it there first",
    });
  };
  assertUnused();
  const restored = session && (await house.custody.restore(session, assertUnused));
  if (!session || !restored) {
    throw new PerdureError("not-found", `No copy is kept of the conversation of ${address}, or it is damaged.`, {
      hint: `perdure history ${worker.name}`,
    });
  }
  await house.writer.write(() => setUnresumable(house.db, worker.id, null));
  return { address, restored, session: describeSession(house, worker, sessionById(house.db, session.id) ?? session) };
}
