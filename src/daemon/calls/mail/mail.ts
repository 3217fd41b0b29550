import { nextState } from "../../../core/mail.ts";
import { askAndWait } from "../../mail/ask.ts";
import { replyToSender } from "../../mail/reply.ts";
import { sendMail } from "../../mail/send.ts";
import type { CallParams, CallResults } from "../../../protocol/calls/index.ts";
import { PerdureError } from "../../../protocol/errors.ts";
import { verb } from "../../../protocol/hint.ts";
import type { AskProgress, MailOutlook } from "../../../protocol/records/mail.ts";
import { formatAddress } from "../../../protocol/names.ts";
import { firstReplyTo, messageById, type Message } from "../../../store/messages.ts";
import { projectById } from "../../../store/projects.ts";
import { setPaused, workerById, type Worker } from "../../../store/workers.ts";
import { recordEvent } from "../../events.ts";
import { describeMessage, describeSteps, findMessage } from "../../mail/describe.ts";
import { mailboxKey } from "../../mail/mailbox-change.ts";
import { isSentBy, senderOf, type Sender } from "../../mail/sender.ts";
import { transition } from "../../mail/transition.ts";
import { findWorker } from "../../names/lookup.ts";
import { describeAsked } from "../../status/asked.ts";
import { commits } from "../commits.ts";
import type { CallContext } from "../context.ts";

/** Returns one message with all its states and its reply. */
export async function showMailCall(
  params: CallParams<"showMail">,
  { services, actor }: CallContext,
): Promise<CallResults["showMail"]> {
  const message = findMessage(services, params.id);
  assertMayRead(senderOf(services, actor, params), message);
  const reply = firstReplyTo(services.db, message.id);
  return {
    message: describeMessage(services, message),
    steps: describeSteps(services, message),
    reply: reply && describeMessage(services, reply),
  };
}

/** Cancels a message, which only its sender or the operator may do, as long as its reader has not seen it. */
export async function cancelCall(
  params: CallParams<"cancel">,
  { services, actor }: CallContext,
): Promise<CallResults["cancel"]> {
  return services.writer.write(() => {
    const sender = senderOf(services, actor, params);
    const found = findMessage(services, params.id);
    if (sender.worker !== null && !isSentBy(sender, found)) {
      throw new PerdureError("refused", `${found.id} was not sent by ${sender.name}.`, { hint: verb("mail", "ID") });
    }
    if (nextState(found.state, "cancel") === null) throw wrongStateError(found, "cancel");
    // Only now: a refusal would undo the record of what hooks have taken.
    services.mail.recall(found.toWorker);
    const message = findMessage(services, params.id);
    if (transition(services, message, "cancel", { run: sender.run?.id ?? null, reason: `by ${sender.name}` })) {
      return { id: message.id, state: "cancelled" as const };
    }
    throw wrongStateError(message, "cancel");
  });
}

/** Queues an expired, cancelled or dead message once more, without a time to live. */
export async function redeliverCall(
  params: CallParams<"redeliver">,
  { services }: CallContext,
): Promise<CallResults["redeliver"]> {
  return services.writer.write(() => {
    const message = findMessage(services, params.id);
    const worker = message.toWorker === null ? null : workerById(services.db, message.toWorker);
    if (worker?.retiredMs != null) {
      throw new PerdureError("conflict", `${message.id} cannot be redelivered, because ${worker.name} was retired.`, {
        hint: "send it again to the worker that should read it",
      });
    }
    if (!transition(services, message, "redeliver", { run: null, reason: "by operator" }))
      throw wrongStateError(message, "redeliver");
    return { id: message.id, state: "queued" as const };
  });
}

function wrongStateError({ id, state }: Message, what: string): PerdureError {
  return new PerdureError("conflict", `Cannot ${what} ${id}: it is ${state}.`, {
    hint: verb("mail", id),
  });
}

/** Pauses a worker's mail, which stays in its mailbox meanwhile, or continues it. */
export async function pauseCall(params: CallParams<"pause">, { services }: CallContext): Promise<CallResults["pause"]> {
  return services.writer.write(() => {
    const { project, worker, address } = findWorker(services, params.target);
    setPaused(services.db, worker.id, params.on);
    const type = params.on ? "worker.paused" : "worker.unpaused";
    recordEvent(services, type, { projectId: project.id, workerId: worker.id });
    services.mail.notify(mailboxKey(project.id, worker.id));
    return { address, paused: params.on };
  });
}

/** Refuses an agent that neither sent nor received the message; the operator may read all. */
function assertMayRead({ worker, name }: Sender, message: Message): void {
  if (worker === null || message.toWorker === worker.id || message.fromWorker === worker.id) return;
  throw new PerdureError("refused", `${name} may not read ${message.id}.`, { hint: verb("inbox") });
}

export function sendCall(params: CallParams<"send">, { services, actor }: CallContext): Promise<CallResults["send"]> {
  return sendMail(services, actor, params);
}

export function askCall(params: CallParams<"ask">, context: CallContext): Promise<CallResults["ask"]> {
  const { services, actor, closed } = context;
  const { turn, progress } = params;
  if (turn && actor.kind !== "operator") {
    throw new PerdureError(
      "refused",
      "Only the operator may ask for a turn; a worker asks, and the rules of the fleet decide.",
      {
        hint: verb("ask", params.to, "TEXT"),
      },
    );
  }
  return askAndWait(services, actor, params, closed, (to, outlook) => {
    const withdraw = turn && to ? services.turns.request(to, params.id) : () => undefined;
    const unwatch = progress ? sendProgress(context, params, to, outlook) : () => undefined;
    return () => {
      unwatch();
      withdraw();
    };
  });
}

/** Sends what becomes of a question while its answer is waited for. An asker who takes nothing in misses what is shown, not the answer. */
function sendProgress(
  context: CallContext,
  params: CallParams<"ask">,
  to: Worker | null,
  outlook: MailOutlook | null,
): () => void {
  const { turns } = context.services;
  const pass = (item: AskProgress): void => void context.send(item).catch(() => undefined);
  const run = turns.runOf(params.id);
  pass(run === null ? { kind: "queued", outlook } : { kind: "started", run });
  const unwatch = turns.watch(params.id, pass);
  const over = new AbortController();
  if (to !== null) {
    const closed = AbortSignal.any([context.closed, over.signal]);
    tellOfWorker({ services: context.services, closed }, params, to, pass).catch((error: unknown) =>
      context.services.log(`what becomes of ${params.id}: ${String(error)}`),
    );
  }
  return () => {
    over.abort();
    unwatch();
  };
}

/** Tells how the worker is that was asked, at first and after every change that is on record. */
async function tellOfWorker(
  { services, closed }: Pick<CallContext, "services" | "closed">,
  { id, to: asked, project: slug, turn }: CallParams<"ask">,
  { id: workerId, projectId }: Worker,
  pass: (item: AskProgress) => void,
): Promise<void> {
  let last = "";
  for await (const _ of commits({ services, closed })) {
    const [worker, project] = [workerById(services.db, workerId), projectById(services.db, projectId)];
    const question = messageById(services.db, id);
    if (worker === null || project === null || question === null) return;
    const name = slug === null ? asked : formatAddress(slug, asked);
    const item = describeAsked(services, project, worker, { name, question, isTurn: turn === true });
    const text = JSON.stringify(item);
    if (text !== last) pass({ kind: "worker", ...item });
    last = text;
  }
}

export function replyCall(
  params: CallParams<"reply">,
  { services, actor }: CallContext,
): Promise<CallResults["reply"]> {
  return replyToSender(services, actor, params);
}
