import { TTL_MS_MAX } from "../../limits.ts";
import type { CallParams, CallResults } from "../../protocol/calls.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { admit, mintId, type Letter } from "../mail/admit.ts";
import { withCopies } from "../mail/attachments.ts";
import { everybody, recipientOf, type Recipient } from "../mail/recipients.ts";
import { senderOf, type Sender } from "../mail/sender.ts";
import type { CallContext } from "./context.ts";

/** To one, to several, or to everybody: one change, so all of them have it or none. */
export async function sendCall(
  params: CallParams<"send">,
  { house, actor }: CallContext,
): Promise<CallResults["send"]> {
  const base = params.id ?? mintId();
  const letter: Omit<Letter, "id" | "attachments"> = {
    body: params.body,
    expiresMs: expiryOf(house.mail.now(), params.ttlMs),
    supersedes: params.supersedes,
    replyTo: null,
    expectsReply: params.expectsReply,
    waits: false,
  };
  const { messages } = await withCopies(house, base, params.attach, async (attachments) => {
    const admitted = await house.writer.write(() => {
      const sender = senderOf(house, actor, params);
      const recipients = params.all
        ? everybody(house, sender, params)
        : params.to.map((name) => recipientOf(house, sender, params, name, params.nested));
      assertSome(recipients, sender);
      return recipients.map((recipient) => {
        const id = recipients.length === 1 ? base : `${base}.${recipient.worker?.name ?? "operator"}`;
        return admit(house, sender, recipient, { ...letter, id, attachments });
      });
    });
    return { messages: admitted, again: admitted.every(({ again }) => again) };
  });
  return { messages };
}

export function expiryOf(nowMs: number, ttlMs: number | null): number | null {
  return ttlMs === null ? null : nowMs + Math.min(ttlMs, TTL_MS_MAX);
}

function assertSome(recipients: Recipient[], sender: Sender): void {
  if (recipients.length > 0) return;
  throw new PerdureError("not-found", `There is nobody else in ${sender.project?.slug ?? "this project"}.`, {
    hint: "perdure ls",
  });
}
