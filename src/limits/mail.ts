import { DAY_MS, HOUR_MS, KIB, MIB, MINUTE_MS, SECOND_MS } from "./units.ts";
import { FRAME_BYTES_MAX } from "./wire.ts";

// The bounds of messages, mailboxes, offers and attachments.

/** Bytes of one message: with its frame far below what a connection accepts. Longer texts are attached. */
export const MESSAGE_BYTES_MAX = 256 * KIB;

/** Undelivered messages to one worker, and their bytes; beyond them senders get the error that the mailbox is full. */
export const MAILBOX_MESSAGES_MAX = 100_000;
export const MAILBOX_BYTES_MAX = 256 * MIB;

/**
 * How long the ids of messages begin alike: a day's index of ids then fits the cache, and a beginning that is typed still tells
 * most messages apart.
 */
export const MESSAGE_ID_PERIOD_MS = 6 * HOUR_MS;

/** Recipients of one call: as many as a fleet has workers. */
export const RECIPIENTS_MAX = 1_000;

/** Messages that one worker may send in a burst, and then per second: this slows an agent in a loop, not a fleet. */
export const SENDER_BURST = 2_000;
export const SENDER_PER_SECOND = 500;

/** How long an offered message is reserved for its reader before it is offered again. */
export const OFFER_VISIBLE_MS = MINUTE_MS;

/** Offers of one message before it counts as dead: every reader so far has died without acknowledging it. */
export const OFFERS_MAX = 100;

/** Messages handed out in one call. */
export const OFFERS_PER_CALL = 100;

/** Bytes on the wire handed out in one call, with room for the frame. A single message is handed out whatever its length. */
export const OFFER_BYTES_PER_CALL = FRAME_BYTES_MAX - 64 * KIB;

/** Unacknowledged messages that a reader can list in one call; more would not fit a frame. */
export const IN_HAND_MAX = 5_000;

/** How often the folders are looked at in which files are mail. */
export const DROP_POLL_MS = SECOND_MS;

/** How long a file there is unchanged before it is taken: whoever writes it in parts is done, or has it open still. */
export const DROP_SETTLE_MS = SECOND_MS;

/** How long a file there is waited for that some process has open, or that is empty; a reader may have it open for ever. */
export const DROP_OPEN_MS = MINUTE_MS;

/** How long a file there rests that could not be taken, because a mailbox or a disk is full. */
export const DROP_RETRY_MS = 10 * SECOND_MS;

/** Files that are taken at one look, so that a folder full of them delays nobody's call. */
export const DROP_FILES_PER_LOOK = 100;

/** Entries of one folder that are looked at: more come when those before them are gone. */
export const DROP_ENTRIES_MAX = 10_000;

/** Characters of a file's name that its reader is shown. */
export const DROP_NAME_CHARS_MAX = 120;

/** Longest time to live of a message. */
export const TTL_MS_MAX = 365 * DAY_MS;

/** How long settled mail (read, answered, expired, cancelled, superseded, dead) is kept, and how many messages. */
export const SETTLED_MAIL_KEPT_MS = 14 * DAY_MS;
export const SETTLED_MAIL_KEPT = 200_000;

/** Bytes of one attachment, and attachments of one message. */
export const ATTACHMENT_BYTES_MAX = 16 * MIB;
export const ATTACHMENTS_MAX = 16;

/** Age at which stored attachments that no message names are deleted. */
export const ATTACHMENT_SWEEP_MS = HOUR_MS;

/** How often expired messages and timed-out offers are collected. */
export const MAIL_SWEEP_MS = SECOND_MS;

/** How long `ask` waits for the answer without `--timeout`. */
export const ASK_WAIT_MS = 10 * MINUTE_MS;

/** How long one call of the library waits for mail before it calls again, so that a replaced daemon is noticed. */
export const RECEIVE_WAIT_MS = 20 * SECOND_MS;

/** How long the policy of perdure.toml is cached, which every message needs. */
export const POLICY_CACHE_MS = SECOND_MS;

/** How long `ask` and `inbox --wait` wait at most; a timer of Node takes no more than 24 days. */
export const WAIT_HOURS_MAX = 24;
