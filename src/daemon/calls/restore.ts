import type { CallParams, CallResults } from "../../protocol/calls.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { sessionById } from "../../store/sessions.ts";
import { setUnresumable } from "../../store/workers.ts";
import { describeSession } from "../describe.ts";
import { assertStopped } from "./adopt.ts";
import { findWorker } from "../places.ts";
import type { CallContext } from "./context.ts";

/** By the operator's word: what the vendor has may be damaged, or changed, and is set aside, not deleted. */
export async function restoreCall(
  params: CallParams<"restore">,
  { house }: CallContext,
): Promise<CallResults["restore"]> {
  const { worker, address } = findWorker(house, params.target);
  assertStopped(house, worker);
  const session = worker.session_id === null ? null : sessionById(house.db, worker.session_id);
  const restored = session && (await house.custody.restore(session));
  if (!session || !restored) {
    throw new PerdureError("not-found", `No copy is kept of the conversation of ${address}, or it is damaged.`, {
      hint: `perdure history ${worker.name}`,
    });
  }
  await house.writer.write(() => setUnresumable(house.db, worker.id, null));
  return { address, restored, session: describeSession(house, worker, sessionById(house.db, session.id) ?? session) };
}
