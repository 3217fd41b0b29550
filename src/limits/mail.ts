import { DAY_MS, HOUR_MS, KIB, MIB, MINUTE_MS, SECOND_MS } from "./units.ts";
import { FRAME_BYTES_MAX } from "./wire.ts";

// The bounds of messages, mailboxes, offers and attachments.

/** Bytes of one message; with its frame it is far below what a connection takes. Longer texts are attached. */
export const MESSAGE_BYTES_MAX = 256 * KIB;

/** Messages on their way to one worker, and their bytes: beyond them senders are told that the mailbox is full. */
export const MAILBOX_MESSAGES_MAX = 100_000;
export const MAILBOX_BYTES_MAX = 256 * MIB;

/** Recipients of one call: as many as a fleet has workers. */
export const RECIPIENTS_MAX = 1_000;

/** Messages that one worker may send at once, and then each second: an agent in a loop is slowed down, a fleet is not. */
export const SENDER_BURST = 2_000;
export const SENDER_PER_SECOND = 500;

/** How long an offer is somebody's before it is offered again. */
export const OFFER_VISIBLE_MS = MINUTE_MS;

/** Offers of one message before it is given up as dead: whoever takes it dies of it. */
export const OFFERS_MAX = 100;

/** Messages handed out in one call. */
export const OFFERS_PER_CALL = 100;

/** Bytes handed out in one call, as they travel: with room for the frame around them. One message alone is handed out whatever its length. */
export const OFFER_BYTES_PER_CALL = FRAME_BYTES_MAX - 64 * KIB;

/** Messages that a reader can say it has in hand; more would not fit a frame. */
export const IN_HAND_MAX = 5_000;

/** Longest life that a message can be given. */
export const TTL_MS_MAX = 365 * DAY_MS;

/** How long settled mail is kept, and how much of it: read, answered, expired, cancelled, superseded, dead. */
export const SETTLED_MAIL_KEPT_MS = 14 * DAY_MS;
export const SETTLED_MAIL_KEPT = 200_000;

/** Bytes of one file sent along with a message, and files of one message. */
export const ATTACHMENT_BYTES_MAX = 16 * MIB;
export const ATTACHMENTS_MAX = 16;

/** Copies of files that no message names are removed after so long. */
export const ATTACHMENT_SWEEP_MS = HOUR_MS;

/** How often expired mail and offers that took too long are looked for. */
export const MAIL_SWEEP_MS = SECOND_MS;

/** How long `ask` waits for the answer unless it is told. */
export const ASK_WAIT_MS = 10 * MINUTE_MS;

/** How long one call of the library waits for mail before it asks again: a daemon that was replaced meanwhile is noticed. */
export const RECEIVE_WAIT_MS = 20 * SECOND_MS;

/** Policy cache lifetime: perdure.toml is asked for its policy at every message. */
export const POLICY_CACHE_MS = SECOND_MS;
