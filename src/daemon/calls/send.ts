import { TTL_MS_MAX } from "../../limits/index.ts";
import type { CallParams, CallResults } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import type { Admitted, Attachment } from "../../protocol/records/mail.ts";
import { projectByIdentity } from "../../store/projects.ts";
import { admit, mintId } from "../mail/admit.ts";
import { withCopies } from "../mail/attachments.ts";
import { everybody, recipientOf, type Recipient } from "../mail/recipients.ts";
import { senderOf, type Sender } from "../mail/sender.ts";
import type { Actor } from "../permissions/actor.ts";
import type { House } from "../services.ts";
import type { CallContext } from "./context.ts";

/** To one, to several, or to everybody: one change, so all of them have it or none. */
export async function sendCall(
  params: CallParams<"send">,
  { house, actor }: CallContext,
): Promise<CallResults["send"]> {
  const base = params.id ?? mintId();
  if (params.attach.length === 0) return { messages: await admitAll(house, actor, params, base, []) };
  return withCopies(house, base, params.attach, async (attachments) => {
    const messages = await admitAll(house, actor, params, base, attachments);
    return { messages, again: messages.every(({ again }) => again) };
  }).then(({ messages }) => ({ messages }));
}

function admitAll(
  house: House,
  actor: Actor,
  params: CallParams<"send">,
  base: string,
  attachments: Attachment[],
): Promise<Admitted[]> {
  const change = (): Admitted[] => {
    const sender = senderOf(house, actor, params);
    const recipients = params.all
      ? everybody(house, sender, params)
      : params.to.map((name) => recipientOf(house, sender, params, name, params.nested));
    assertSome(recipients, sender);
    return recipients.map((recipient) => {
      const id = recipients.length === 1 ? base : `${base}.${recipient.worker?.name ?? "operator"}`;
      return admit(house, sender, recipient, {
        id,
        isFirst: params.id === null,
        body: params.body,
        expiresMs: expiryOf(house, params.ttlMs),
        supersedes: params.supersedes,
        replyTo: null,
        expectsReply: params.expectsReply,
        waits: false,
        attachments,
      });
    });
  };
  return isPlain(house, params) ? house.writer.writeChecked(change) : house.writer.write(change);
}

/** To one who has a name already: then it is refused before anything is changed, or not at all. */
function isPlain(house: House, { all, to, declared, project, here }: CallParams<"send">): boolean {
  if (all || to.length !== 1 || declared.length > 0) return false;
  return project !== null || projectByIdentity(house.db, here.identity) !== null;
}

export function expiryOf({ mail }: Pick<House, "mail">, ttlMs: number | null): number | null {
  return ttlMs === null ? null : mail.now() + Math.min(ttlMs, TTL_MS_MAX);
}

function assertSome(recipients: Recipient[], sender: Sender): void {
  if (recipients.length > 0) return;
  throw new PerdureError("not-found", `There is nobody else in ${sender.project?.slug ?? "this project"}.`, {
    hint: "perdure ls",
  });
}
