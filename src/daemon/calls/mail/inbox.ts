import { LIST_ROWS_MAX } from "../../../limits/index.ts";
import type { CallParams, CallResults } from "../../../protocol/calls/index.ts";
import { PerdureError } from "../../../protocol/errors.ts";
import { verb } from "../../../protocol/hint.ts";
import {
  messagesInState,
  messagesOnTheWay,
  readUnanswered,
  recentMessages,
  unansweredMessages,
} from "../../../store/messages.ts";
import { assertNoneMissing } from "../../mail/integrity.ts";
import { describeMessage } from "../../mail/describe.ts";
import { projectFor } from "../../mail/recipients.ts";
import { assertNotNested, senderOf } from "../../mail/sender.ts";
import { findWorker, projectOf } from "../../names/lookup.ts";
import type { CallContext } from "../context.ts";

/** Lists the messages of a mailbox and takes none: the caller's own, or any worker's for the operator. */
export async function peekMailCall(
  params: CallParams<"peekMail">,
  context: CallContext,
): Promise<CallResults["peekMail"]> {
  const { services, actor } = context;
  const sender = senderOf(services, actor, params);
  assertNotNested(params, sender);
  const target = params.target === null ? null : findWorker(services, params.target);
  if (target && sender.worker !== null && target.worker.id !== sender.worker.id) {
    throw new PerdureError("refused", `${sender.name} may not read the mail of ${target.address}.`, {
      hint: verb("inbox"),
    });
  }
  const project = target?.project ?? projectFor(services, sender, params);
  const to = target?.worker.id ?? sender.worker?.id ?? null;
  const rows = params.all
    ? recentMessages(services.db, project.id, to, params.limit).toReversed()
    : messagesOnTheWay(services.db, project.id, to, params.limit);
  if (!params.all && rows.length < params.limit) await assertNoneMissing(services, project.id, to, rows.length);
  for (const row of rows) await context.send(describeMessage(services, row));
  return { count: rows.length, paused: (target?.worker ?? sender.worker)?.paused === true };
}

/** Lists the messages of a project by state. The states are merged by number, because each is read through its own index. */
export async function listMailCall(
  params: CallParams<"listMail">,
  context: CallContext,
): Promise<CallResults["listMail"]> {
  const { services } = context;
  const project = projectOf(services, params);
  const page = { before: params.before ?? Number.MAX_SAFE_INTEGER, limit: params.limit };
  const rows = project
    ? [
        ...[...new Set(params.states)].flatMap((state) => messagesInState(services.db, project.id, state, page)),
        ...(params.unanswered && !params.states.includes("read") ? readUnanswered(services.db, project.id, page) : []),
      ]
        .toSorted((one, other) => other.seq - one.seq)
        .slice(0, params.limit)
        .toReversed()
    : [];
  for (const row of rows) await context.send(describeMessage(services, row));
  return { count: rows.length };
}

/** Lists the messages to the caller that expect a reply and have none. */
export async function pendingCall(
  params: CallParams<"pending">,
  context: CallContext,
): Promise<CallResults["pending"]> {
  const { services, actor } = context;
  const sender = senderOf(services, actor, params);
  assertNotNested(params, sender);
  const project = projectFor(services, sender, params);
  const rows = unansweredMessages(services.db, project.id, sender.worker?.id ?? null, LIST_ROWS_MAX);
  for (const row of rows) await context.send(describeMessage(services, row));
  return { count: rows.length };
}
