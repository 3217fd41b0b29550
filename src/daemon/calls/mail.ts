import type { CallParams, CallResults } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { replyTo, type MessageRow } from "../../store/messages.ts";
import { setPaused, workerById } from "../../store/workers.ts";
import { record } from "../services.ts";
import { describeMessage, describeSteps } from "../mail/describe.ts";
import { findMessage } from "../mail/find.ts";
import { boxKey } from "../mail/keys.ts";
import { sentBy, senderOf, type Sender } from "../mail/sender.ts";
import { settle } from "../mail/transition.ts";
import { findWorker } from "../names/lookup.ts";
import type { CallContext } from "./context.ts";

/** One message and everything that became of it. */
export async function showMailCall(
  params: CallParams<"showMail">,
  { house, actor }: CallContext,
): Promise<CallResults["showMail"]> {
  const message = findMessage(house, params.id);
  assertParty(senderOf(house, actor, params), message);
  const reply = replyTo(house.db, message.id);
  return {
    message: describeMessage(house, message),
    steps: describeSteps(house, message),
    reply: reply && describeMessage(house, reply),
  };
}

/** By whoever sent it, as long as nobody has seen it. */
export async function cancelCall(
  params: CallParams<"cancel">,
  { house, actor }: CallContext,
): Promise<CallResults["cancel"]> {
  return house.writer.write(() => {
    const sender = senderOf(house, actor, params);
    const message = findMessage(house, params.id);
    if (sender.worker !== null && !sentBy(sender, message)) {
      throw new PerdureError("refused", `${message.id} was not sent by ${sender.name}.`, { hint: "perdure mail ID" });
    }
    if (settle(house, message, "cancel", { run: sender.run?.id ?? null, reason: `by ${sender.name}` })) {
      return { id: message.id, state: "cancelled" as const };
    }
    throw tooLate(message, "cancel");
  });
}

/** What expired, was cancelled or is dead, once more, without an end to its life. */
export async function redeliverCall(
  params: CallParams<"redeliver">,
  { house }: CallContext,
): Promise<CallResults["redeliver"]> {
  return house.writer.write(() => {
    const message = findMessage(house, params.id);
    const worker = message.to_worker === null ? null : workerById(house.db, message.to_worker);
    if (worker?.retired_ms != null) {
      throw new PerdureError("conflict", `${worker.name} was retired: ${message.id} was its mail, and nobody else's.`, {
        hint: "send it anew to whoever should read it",
      });
    }
    if (!settle(house, message, "redeliver", { run: null, reason: "by operator" })) throw tooLate(message, "redeliver");
    return { id: message.id, state: "queued" as const };
  });
}

function tooLate({ id, state }: MessageRow, what: string): PerdureError {
  return new PerdureError("conflict", `There is nothing to ${what}: ${id} is ${state}.`, {
    hint: `perdure mail ${id}`,
  });
}

/** Mail waits in its box until it goes on. */
export async function pauseCall(params: CallParams<"pause">, { house }: CallContext): Promise<CallResults["pause"]> {
  return house.writer.write(() => {
    const { project, worker, address } = findWorker(house, params.target);
    setPaused(house.db, worker.id, params.on);
    const type = params.on ? "worker.paused" : "worker.unpaused";
    record(house, type, { projectId: project.id, workerId: worker.id });
    if (!params.on) house.mail.tell(boxKey(project.id, worker.id));
    return { address, paused: params.on };
  });
}

/** An agent sees the mail it sent or got; the operator sees all. */
function assertParty({ worker, name }: Sender, message: MessageRow): void {
  if (worker === null || message.to_worker === worker.id || message.from_worker === worker.id) return;
  throw new PerdureError("refused", `${message.id} is not ${name}'s to read.`, { hint: "perdure inbox" });
}
