import { TTL_MS_MAX } from "../../limits/index.ts";
import type { CallParams, CallResults } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { verb } from "../../protocol/hint.ts";
import type { Admitted, Attachment } from "../../protocol/records/mail.ts";
import { projectByIdentity } from "../../store/projects.ts";
import { assertNotMoved, mayBeMoved } from "../names/moved.ts";
import type { Actor } from "../permissions/actor.ts";
import { admit } from "./admit.ts";
import { withAttachments } from "./attachments.ts";
import { allRecipients, namesByKey, recipientOf, type Recipient } from "./recipients.ts";
import { senderOf, type Sender } from "./sender.ts";
import type { MailServices } from "./services.ts";

/** Sends a message to one worker, to several or to all, in one change: all of them get it or none. */
export async function sendMail(
  services: MailServices,
  actor: Actor,
  params: CallParams<"send">,
): Promise<CallResults["send"]> {
  const base = params.id ?? services.mail.mintId();
  if (actor.kind === "operator") await assertNoneMoved(services, params, params.to);
  if (params.attach.length === 0) return { messages: await admitAll(services, actor, params, base, []) };
  return withAttachments(services, base, params.attach, async (attachments) => {
    const messages = await admitAll(services, actor, params, base, attachments);
    return { messages, again: messages.every(({ again }) => again) };
  }).then(({ messages }) => ({ messages }));
}

/** Refuses mail to names that are new here only because their repository was moved: it would go to an empty mailbox. */
export async function assertNoneMoved(
  services: MailServices,
  place: Parameters<typeof assertNotMoved>[1],
  names: readonly string[],
): Promise<void> {
  for (const name of names) if (mayBeMoved(services, place, name)) await assertNotMoved(services, place, name);
}

function admitAll(
  services: MailServices,
  actor: Actor,
  params: CallParams<"send">,
  base: string,
  attachments: Attachment[],
): Promise<Admitted[]> {
  const declared = namesByKey(params.declared);
  const change = (): Admitted[] => {
    const sender = senderOf(services, actor, params);
    const recipients = params.all
      ? allRecipients(services, sender, params)
      : params.to.map((name) => recipientOf(services, sender, params, declared, name, params.nested));
    assertAnyRecipient(recipients, sender);
    return recipients.map((recipient) => {
      const id = recipients.length === 1 ? base : `${base}.${recipient.worker?.name ?? "operator"}`;
      return admit(services, sender, recipient, {
        id,
        isFirst: params.id === null,
        body: params.body,
        expiresMs: expiryOf(services, params.ttlMs),
        supersedes: params.supersedes,
        replyTo: null,
        expectsReply: params.expectsReply,
        waits: false,
        attachments,
      });
    });
  };
  return isCheckedFirst(services, params) ? services.writer.writeChecked(change) : services.writer.write(change);
}

/** Tells whether a refusal is certain to come before any change: the message goes to one existing name of a known project. */
function isCheckedFirst(services: MailServices, { all, to, declared, project, here }: CallParams<"send">): boolean {
  if (all || to.length !== 1 || declared.length > 0) return false;
  return project !== null || projectByIdentity(services.db, here.identity) !== null;
}

export function expiryOf({ mail }: Pick<MailServices, "mail">, ttlMs: number | null): number | null {
  return ttlMs === null ? null : mail.now() + Math.min(ttlMs, TTL_MS_MAX);
}

function assertAnyRecipient(recipients: Recipient[], sender: Sender): void {
  if (recipients.length > 0) return;
  throw new PerdureError("not-found", `There is no other worker in ${sender.project?.slug ?? "this project"}.`, {
    hint: verb("ls"),
  });
}
