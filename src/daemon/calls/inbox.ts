import { LIST_ROWS_MAX, OFFER_BYTES_PER_CALL, OFFERS_MAX } from "../../limits/index.ts";
import type { CallParams, CallResults } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { OPERATOR, type MessageRecord } from "../../protocol/records/mail.ts";
import {
  countOnTheWay,
  onTheWay,
  messageById,
  offersOf,
  queuedFor,
  recentMessages,
  unansweredFor,
} from "../../store/messages.ts";
import type { Services } from "../services.ts";
import { assertAllThere } from "../mail/integrity.ts";
import { describeMessage } from "../mail/describe.ts";
import { MailboxChange } from "../mail/waiting.ts";
import { boxKey } from "../mail/waiting.ts";
import { projectFor } from "../mail/recipients.ts";
import { assertReader, senderOf, type Sender } from "../mail/sender.ts";
import { transition } from "../mail/transition.ts";
import { findWorker } from "../names/lookup.ts";
import type { CallContext } from "./context.ts";

/** Hands out the next messages, in order. They are this run's for a while; not acknowledged, they are offered again. */
export async function receiveCall(
  params: CallParams<"receive">,
  { services, actor, closed }: CallContext,
): Promise<CallResults["receive"]> {
  const deadline = services.monotonicMs() + params.waitMs;
  const box = boxOf(services, params, senderOf(services, actor, params));
  let wanted = params;
  for (;;) {
    // Listening first: what comes in while the box is looked into is not missed.
    const change = new MailboxChange(services, box.key, deadline, closed);
    const messages = await services.writer
      .write(() => offer(services, wanted, senderOf(services, actor, params)))
      .catch((error: unknown) => change.stoppedIfThrown(() => rethrown(error)));
    if (messages.length > 0) {
      change.stop();
      return { messages };
    }
    await assertAllThere(services, box.project, box.to, countOnTheWay(services.db, box.project, box.to));
    if ((await change.happened) === "too late") return { messages };
    // Nobody is there to take an offer any more.
    if (closed.aborted) return { messages: [] };
    // What it has in hand was said when it asked: by now others of the same run may have taken something.
    wanted = { ...params, inHand: undefined };
  }
}

function boxOf(
  services: Services,
  params: CallParams<"receive">,
  sender: Sender,
): { project: number; to: number | null; key: string } {
  assertReader(params, sender);
  const project = projectFor(services, sender, { ...params, declared: [] }).id;
  const to = sender.worker?.id ?? null;
  return { project, to, key: boxKey(project, to) };
}

function offer(services: Services, params: CallParams<"receive">, sender: Sender): MessageRecord[] {
  const { project, to, key } = boxOf(services, params, sender);
  if (sender.worker?.paused === true) return [];
  const run = sender.run?.id ?? OPERATOR;
  if (params.inHand) returnUnarrived(services, run, key, new Set(params.inHand));
  const messages: MessageRecord[] = [];
  let bytes = 0;
  const next = queuedFor(services.db, project, to, params.max);
  for (const message of next) {
    if (message.attempt >= OFFERS_MAX) {
      transition(services, message, "die", { run, reason: `offered ${message.attempt} times and never read` });
      continue;
    }
    // An answer that is too long for its frame would reach nobody, and its messages would be on offer all the same.
    bytes += bytesOnTheWire(describeMessage(services, message));
    if (messages.length > 0 && bytes > OFFER_BYTES_PER_CALL) break;
    transition(services, message, "offer", { run, generation: sender.run?.generation ?? 0 });
    services.mail.offered(message.seq);
    const offered = messageById(services.db, message.id);
    if (offered) messages.push(describeMessage(services, offered));
  }
  // All of them were given up: what comes behind them is not kept waiting.
  return messages.length === 0 && next.length > 0 ? offer(services, params, sender) : messages;
}

function rethrown(error: unknown): never {
  throw error;
}

/** A daemon that died after the offer and before the answer: what was in it must not come after what came later. */
function returnUnarrived(services: Services, run: string, box: string, inHand: ReadonlySet<string>): void {
  for (const message of offersOf(services.db, run)) {
    if (message.state !== "offered" || inHand.has(message.id) || boxKey(message.projectId, message.toWorker) !== box)
      continue;
    transition(services, message, "return", { run, reason: "it never arrived" });
  }
}

function bytesOnTheWire(message: MessageRecord): number {
  return Buffer.byteLength(JSON.stringify(message));
}

/** Only what is on offer to this very run: another one's, or one that was given back meanwhile, is missed. */
export async function ackCall(
  params: CallParams<"ack">,
  { services, actor }: CallContext,
): Promise<CallResults["ack"]> {
  return services.writer.write(() => {
    const sender = senderOf(services, actor, params);
    assertReader(params, sender);
    const run = sender.run?.id ?? OPERATOR;
    const acked = params.ids.filter((id) => {
      const message = messageById(services.db, id);
      const own = message?.offerRun === run && message.offerGeneration === (sender.run?.generation ?? 0);
      return own && transition(services, message, params.how === "read" ? "read" : "inject", { run });
    });
    return { acked, missed: params.ids.filter((id) => !acked.includes(id)) };
  });
}

/** Looks into a box and takes nothing: one's own, or as the operator anybody's. */
export async function inboxCall(params: CallParams<"inbox">, context: CallContext): Promise<CallResults["inbox"]> {
  const { services, actor } = context;
  const sender = senderOf(services, actor, params);
  assertReader(params, sender);
  const other = params.target === null ? null : findWorker(services, params.target);
  if (other && sender.worker !== null && other.worker.id !== sender.worker.id) {
    throw new PerdureError("refused", `The mail of ${other.address} is not ${sender.name}'s to read.`, {
      hint: "perdure inbox",
    });
  }
  const project = other?.project ?? projectFor(services, sender, { ...params, declared: [] });
  const to = other?.worker.id ?? sender.worker?.id ?? null;
  const rows = params.all
    ? recentMessages(services.db, project.id, to, params.limit).toReversed()
    : onTheWay(services.db, project.id, to, params.limit);
  if (!params.all && rows.length < params.limit) await assertAllThere(services, project.id, to, rows.length);
  for (const row of rows) await context.send(describeMessage(services, row));
  return { count: rows.length, paused: (other?.worker ?? sender.worker)?.paused === true };
}

/** What was asked of the caller and not answered. */
export async function pendingCall(
  params: CallParams<"pending">,
  context: CallContext,
): Promise<CallResults["pending"]> {
  const { services, actor } = context;
  const sender = senderOf(services, actor, params);
  assertReader(params, sender);
  const project = projectFor(services, sender, { ...params, declared: [] });
  const rows = unansweredFor(services.db, project.id, sender.worker?.id ?? null, LIST_ROWS_MAX);
  for (const row of rows) await context.send(describeMessage(services, row));
  return { count: rows.length };
}
