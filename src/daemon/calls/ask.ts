import type { CallParams, CallResults } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import type { Waiting } from "../../core/mail.ts";
import { OPERATOR } from "../../protocol/records/mail.ts";
import { messageById, firstReplyTo } from "../../store/messages.ts";
import { standing } from "../../core/lease.ts";
import { workerById } from "../../store/workers.ts";
import { assertCurrent } from "../permissions/actor.ts";
import type { House } from "../services.ts";
import { admit } from "../mail/admit.ts";
import { withCopies } from "../mail/attachments.ts";
import { describeMessage } from "../mail/describe.ts";
import { Change } from "../mail/waiting.ts";
import { askKey } from "../mail/keys.ts";
import { recipientOf } from "../mail/recipients.ts";
import { senderOf, type Sender } from "../mail/sender.ts";
import { settle } from "../mail/transition.ts";
import type { CallContext } from "./context.ts";
import { expiryOf } from "./send.ts";

/**
 * Sends and waits for the answer. The id is the asker's: asked once more after the daemon was restarted, it goes on waiting
 * for the answer to the same message.
 */
export async function askCall(params: CallParams<"ask">, context: CallContext): Promise<CallResults["ask"]> {
  const { house, actor } = context;
  let done = (): void => undefined;
  try {
    const { sender } = await withCopies(house, params.id, params.attach, (attachments) =>
      house.writer.write(() => {
        const asker = senderOf(house, actor, params);
        const recipient = recipientOf(house, asker, params, params.to, params.nested);
        const { again } = admit(house, asker, recipient, {
          id: params.id,
          isFirst: false,
          body: params.body,
          expiresMs: expiryOf(house, params.ttlMs),
          supersedes: null,
          replyTo: null,
          expectsReply: true,
          waits: true,
          attachments,
        });
        // In the very change that asks: two who ask each other at once are both seen.
        const waiting: Waiting = { ask: params.id, from: asker.worker?.id ?? null, to: recipient.worker?.id ?? null };
        done = house.mail.wait(waiting);
        return { sender: asker, again };
      }),
    );
    const replyId = await answered(context, params, sender);
    return await offerReply(house, params, replyId, sender);
  } finally {
    done();
  }
}

async function answered(
  { house, closed }: CallContext,
  { id, waitMs }: CallParams<"ask">,
  sender: Sender,
): Promise<string> {
  const deadline = house.monotonicMs() + waitMs;
  for (;;) {
    const change = new Change(house, askKey(id), deadline, closed);
    const outcome = change.stoppedIfThrown(() => outcomeOf(house, id, sender));
    if (outcome !== null) {
      change.stop();
      return outcome;
    }
    if ((await change.happened) === "too late") {
      throw new PerdureError("timed-out", `No answer to ${id} in ${waitMs / 1000} s.`, {
        hint: `it may still come, to your inbox: perdure mail ${id}`,
        details: { id },
      });
    }
    if (closed.aborted) throw new PerdureError("unavailable", "The daemon is leaving.", { details: { lost: true } });
  }
}

/** The reply's id once it is there; an error once there will be none; null while one may still come. */
function outcomeOf(house: House, id: string, { run, worker }: Sender): string | null {
  const now = worker && workerById(house.db, worker.id);
  // First of all: an answer belongs to the worker, and a run that lost its name takes nothing of it.
  if (run && (!now || standing(now.lease, run.id, run.generation) !== "current")) {
    throw new PerdureError("displaced", `${run.id} no longer owns its name; the answer goes to its next run.`, {
      hint: "stop this process",
    });
  }
  const reply = firstReplyTo(house.db, id);
  if (reply) return reply.id;
  const ask = messageById(house.db, id);
  if (ask !== null && !["expired", "cancelled", "superseded", "dead"].includes(ask.state)) return null;
  throw new PerdureError("refused", `${id} can no longer be answered: it is ${ask?.state ?? "gone"}.`, {
    hint: `perdure mail ${id}`,
    details: { id, state: ask?.state },
  });
}

/**
 * It is the asker's until it says that it has it: else it goes to the inbox of the worker's next run. One that was taken before,
 * when its answer was lost on the way, is the same one. A nested agent acknowledges nothing: there, what is answered is read.
 */
async function offerReply(
  house: House,
  { id, nested }: CallParams<"ask">,
  replyId: string,
  sender: Sender,
): Promise<CallResults["ask"]> {
  const run = sender.run?.id ?? OPERATOR;
  await house.writer.write(() => {
    if (sender.run) assertCurrent(house, sender.run.id, sender.run.generation);
    const reply = messageById(house.db, replyId);
    if (!reply || !settle(house, reply, "offer", { run, generation: sender.run?.generation ?? 0 })) return;
    if (nested) settle(house, { ...reply, state: "offered" }, "read", { run });
    else house.mail.offered(reply.seq);
  });
  const reply = messageById(house.db, replyId);
  if (reply === null) throw new Error(`reply ${replyId} vanished`);
  return { id, reply: describeMessage(house, reply) };
}
