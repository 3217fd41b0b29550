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
import type { House } from "../services.ts";
import { assertAllThere } from "../mail/all-there.ts";
import { describeMessage } from "../mail/describe.ts";
import { Change } from "../mail/waiting.ts";
import { boxKey } from "../mail/keys.ts";
import { projectFor } from "../mail/recipients.ts";
import { assertReader, senderOf, type Sender } from "../mail/sender.ts";
import { settle } from "../mail/transition.ts";
import { findWorker } from "../names/lookup.ts";
import type { CallContext } from "./context.ts";

/** Hands out the next messages, in order. They are this run's for a while; not acknowledged, they are offered again. */
export async function takeMailCall(
  params: CallParams<"takeMail">,
  { house, actor, closed }: CallContext,
): Promise<CallResults["takeMail"]> {
  const deadline = house.monotonicMs() + params.waitMs;
  const box = boxOf(house, params, senderOf(house, actor, params));
  let wanted = params;
  for (;;) {
    // Listening first: what comes in while the box is looked into is not missed.
    const change = new Change(house, box.key, deadline, closed);
    const messages = await house.writer
      .write(() => offer(house, wanted, senderOf(house, actor, params)))
      .catch((error: unknown) => change.stoppedIfThrown(() => rethrown(error)));
    if (messages.length > 0) {
      change.stop();
      return { messages };
    }
    await assertAllThere(house, box.project, box.to, countOnTheWay(house.db, box.project, box.to));
    if ((await change.happened) === "too late") return { messages };
    // Nobody is there to take an offer any more.
    if (closed.aborted) return { messages: [] };
    // What it has in hand was said when it asked: by now others of the same run may have taken something.
    wanted = { ...params, inHand: undefined };
  }
}

function boxOf(
  house: House,
  params: CallParams<"takeMail">,
  sender: Sender,
): { project: number; to: number | null; key: string } {
  assertReader(params, sender);
  const project = projectFor(house, sender, { ...params, declared: [] }).id;
  const to = sender.worker?.id ?? null;
  return { project, to, key: boxKey(project, to) };
}

function offer(house: House, params: CallParams<"takeMail">, sender: Sender): MessageRecord[] {
  const { project, to, key } = boxOf(house, params, sender);
  if (sender.worker?.paused === 1) return [];
  const run = sender.run?.id ?? OPERATOR;
  if (params.inHand) returnUnarrived(house, run, key, new Set(params.inHand));
  const messages: MessageRecord[] = [];
  let bytes = 0;
  const next = queuedFor(house.db, project, to, params.max);
  for (const message of next) {
    if (message.attempt >= OFFERS_MAX) {
      settle(house, message, "die", { run, reason: `offered ${message.attempt} times and never read` });
      continue;
    }
    // An answer that is too long for its frame would reach nobody, and its messages would be on offer all the same.
    bytes += bytesOnTheWire(describeMessage(house, message));
    if (messages.length > 0 && bytes > OFFER_BYTES_PER_CALL) break;
    settle(house, message, "offer", { run, generation: sender.run?.generation ?? 0 });
    house.mail.offered(message.seq);
    const offered = messageById(house.db, message.id);
    if (offered) messages.push(describeMessage(house, offered));
  }
  // All of them were given up: what comes behind them is not kept waiting.
  return messages.length === 0 && next.length > 0 ? offer(house, params, sender) : messages;
}

function rethrown(error: unknown): never {
  throw error;
}

/** A daemon that died after the offer and before the answer: what was in it must not come after what came later. */
function returnUnarrived(house: House, run: string, box: string, inHand: ReadonlySet<string>): void {
  for (const message of offersOf(house.db, run)) {
    if (message.state !== "offered" || inHand.has(message.id) || boxKey(message.project_id, message.to_worker) !== box)
      continue;
    settle(house, message, "return", { run, reason: "it never arrived" });
  }
}

function bytesOnTheWire(message: MessageRecord): number {
  return Buffer.byteLength(JSON.stringify(message));
}

/** Only what is on offer to this very run: another one's, or one that was given back meanwhile, is missed. */
export async function ackCall(params: CallParams<"ack">, { house, actor }: CallContext): Promise<CallResults["ack"]> {
  return house.writer.write(() => {
    const sender = senderOf(house, actor, params);
    assertReader(params, sender);
    const run = sender.run?.id ?? OPERATOR;
    const acked = params.ids.filter((id) => {
      const message = messageById(house.db, id);
      const own = message?.offer_run === run && message.offer_generation === (sender.run?.generation ?? 0);
      return own && settle(house, message, params.how === "read" ? "read" : "inject", { run });
    });
    return { acked, missed: params.ids.filter((id) => !acked.includes(id)) };
  });
}

/** Looks into a box and takes nothing: one's own, or as the operator anybody's. */
export async function peekMailCall(
  params: CallParams<"peekMail">,
  context: CallContext,
): Promise<CallResults["peekMail"]> {
  const { house, actor } = context;
  const sender = senderOf(house, actor, params);
  assertReader(params, sender);
  const other = params.target === null ? null : findWorker(house, params.target);
  if (other && sender.worker !== null && other.worker.id !== sender.worker.id) {
    throw new PerdureError("refused", `The mail of ${other.address} is not ${sender.name}'s to read.`, {
      hint: "perdure inbox",
    });
  }
  const project = other?.project ?? projectFor(house, sender, { ...params, declared: [] });
  const to = other?.worker.id ?? sender.worker?.id ?? null;
  const rows = params.all
    ? recentMessages(house.db, project.id, to, params.limit).toReversed()
    : onTheWay(house.db, project.id, to, params.limit);
  if (!params.all && rows.length < params.limit) await assertAllThere(house, project.id, to, rows.length);
  for (const row of rows) await context.send(describeMessage(house, row));
  return { count: rows.length, paused: (other?.worker ?? sender.worker)?.paused === 1 };
}

/** What was asked of the caller and not answered. */
export async function pendingCall(
  params: CallParams<"pending">,
  context: CallContext,
): Promise<CallResults["pending"]> {
  const { house, actor } = context;
  const sender = senderOf(house, actor, params);
  assertReader(params, sender);
  const project = projectFor(house, sender, { ...params, declared: [] });
  const rows = unansweredFor(house.db, project.id, sender.worker?.id ?? null, LIST_ROWS_MAX);
  for (const row of rows) await context.send(describeMessage(house, row));
  return { count: rows.length };
}
