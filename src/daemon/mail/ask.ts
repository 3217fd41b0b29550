import type { WaitingAsk } from "../../core/ask-cycle.ts";
import type { CallParams, CallResults } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { hintOf, verb } from "../../protocol/hint.ts";
import { OPERATOR, type MailOutlook } from "../../protocol/records/mail.ts";
import { messageById, firstReplyTo, stepsOf } from "../../store/messages.ts";
import { leaseStanding } from "../../core/lease.ts";
import { workerById, type Worker } from "../../store/workers.ts";
import { requirePresent } from "../../util/require-present.ts";
import { assertCurrent, type Actor } from "../permissions/actor.ts";
import { admit } from "./admit.ts";
import { withAttachments } from "./attachments.ts";
import { describeMessage } from "./describe.ts";
import { MailboxChange, askKey } from "./mailbox-change.ts";
import { namesByKey, recipientOf } from "./recipients.ts";
import { senderOf, type Sender } from "./sender.ts";
import { transition } from "./transition.ts";
import type { MailServices } from "./services.ts";
import { assertNoneMoved, expiryOf } from "./send.ts";

/**
 * Sends a message and waits for the answer. The caller chooses the id, so that a repeated call, after a restart of the daemon,
 * continues to wait for the answer to the same message.
 */
export async function askAndWait(
  services: MailServices,
  actor: Actor,
  params: CallParams<"ask">,
  closed: AbortSignal,
  /** Called when the question is on disk, with its recipient; what it returns is called when nobody waits any more. */
  onAdmitted: (to: Worker | null, outlook: MailOutlook | null) => () => void = () => () => undefined,
): Promise<CallResults["ask"]> {
  if (actor.kind === "operator") await assertNoneMoved(services, params, [params.to]);
  let stopWaiting = (): void => undefined;
  let stopListening = (): void => undefined;
  try {
    const { sender, to, outlook } = await withAttachments(services, params.id, params.attach, (attachments) =>
      services.writer.write(() => {
        const asker = senderOf(services, actor, params);
        const recipient = recipientOf(services, asker, params, namesByKey(params.declared), params.to, params.nested);
        const { again, outlook: expected = null } = admit(services, asker, recipient, {
          id: params.id,
          isFirst: false,
          body: params.body,
          expiresMs: expiryOf(services, params.ttlMs),
          supersedes: null,
          replyTo: null,
          expectsReply: true,
          waits: true,
          attachments,
        });
        // Registered in the change that asks, so that two workers that ask each other at once see each other.
        const waiting: WaitingAsk = {
          ask: params.id,
          from: asker.worker?.id ?? null,
          to: recipient.worker?.id ?? null,
        };
        stopWaiting = services.mail.wait(waiting);
        return { sender: asker, again, to: recipient.worker, outlook: expected };
      }),
    );
    stopListening = onAdmitted(to, outlook);
    const replyId = await waitForReply(services, params, sender, closed);
    return await offerReply(services, params, replyId, sender);
  } finally {
    stopListening();
    stopWaiting();
  }
}

async function waitForReply(
  services: MailServices,
  { id, waitMs }: CallParams<"ask">,
  sender: Sender,
  closed: AbortSignal,
): Promise<string> {
  const deadline = services.monotonicMs() + waitMs;
  for (;;) {
    const change = new MailboxChange(services, askKey(id), deadline, closed);
    const outcome = change.stopIfThrows(() => findReply(services, id, sender));
    if (outcome !== null) {
      change.stop();
      return outcome;
    }
    if ((await change.outcome) === "timed-out") {
      throw new PerdureError("timed-out", `No answer to ${id} in ${waitMs / 1000} s.`, {
        hint: hintOf`it may still arrive in your inbox: ${verb("mail", id)}`,
        details: { id },
      });
    }
    if (closed.aborted) throw new PerdureError("unavailable", "The daemon is stopping.", { details: { lost: true } });
  }
}

/** Returns the id of the reply, or null while one may still come; throws once there can be none. */
function findReply(services: MailServices, id: string, { run, worker }: Sender): string | null {
  const now = worker && workerById(services.db, worker.id);
  // Checked first: the answer belongs to the worker, and a run that lost its name must not get it.
  if (run && (!now || leaseStanding(now.lease, run.id, run.generation) !== "current")) {
    throw new PerdureError("displaced", `${run.id} no longer owns its name; the answer goes to its next run.`, {
      hint: "stop this process",
    });
  }
  const reply = firstReplyTo(services.db, id);
  if (reply) return reply.id;
  const ask = messageById(services.db, id);
  if (ask !== null && !["expired", "cancelled", "superseded", "dead"].includes(ask.state)) return null;
  const reason = ask && stepsOf(services.db, ask.seq).at(-1)?.reason;
  const why = reason ? `: ${reason}` : "";
  throw new PerdureError("refused", `${id} can no longer be answered: it is ${ask?.state ?? "gone"}${why}.`, {
    hint: verb("mail", id),
    details: { id, state: ask?.state, ...(reason && { reason }) },
  });
}

/**
 * Offers the reply to the asker, who has to acknowledge it; else it goes to the inbox of the worker's next run. A reply that
 * was offered before, and was lost on the way, is returned again. A nested agent cannot acknowledge, so its reply is read at
 * once.
 */
async function offerReply(
  services: MailServices,
  { id, nested }: CallParams<"ask">,
  replyId: string,
  sender: Sender,
): Promise<CallResults["ask"]> {
  const run = sender.run?.id ?? OPERATOR;
  await services.writer.write(() => {
    if (sender.run) assertCurrent(services, sender.run.id, sender.run.generation);
    // The reply may lie ready for the asker's next hook: it must not arrive both ways.
    services.mail.recall(sender.worker?.id ?? null);
    const reply = messageById(services.db, replyId);
    if (!reply || !transition(services, reply, "offer", { run, generation: sender.run?.generation ?? 0 })) return;
    if (nested) transition(services, { ...reply, state: "offered" }, "read", { run });
    else services.mail.startOfferDeadline(reply.seq);
  });
  const reply = requirePresent(messageById(services.db, replyId), `reply ${replyId}`);
  return { id, reply: describeMessage(services, reply) };
}
