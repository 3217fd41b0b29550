import {
  ANSWER_WAIT_MS,
  ASK_WAIT_MS,
  ATTACHMENT_BYTES_MAX,
  ATTACHMENTS_MAX,
  HOUR_MS,
  KILL_AFTER_MS_MAX,
  LIST_ROWS_MAX,
  MAILBOX_MESSAGES_MAX,
  MESSAGE_BYTES_MAX,
  NAME_CHARS_MAX,
  OFFER_VISIBLE_MS,
  TAKEOVER_TERM_WAIT_MS,
  TTL_MS_MAX,
  WAIT_HOURS_MAX,
} from "../limits/index.ts";

/** The bounds that a program meets, by name; what goes beyond one is refused with an error that says so. */
export const bounds = {
  /** Characters of a worker's name. */
  nameChars: NAME_CHARS_MAX,
  /** Bytes of a message's text; a longer text is attached. */
  messageBytes: MESSAGE_BYTES_MAX,
  /** Files that go along with a message, and bytes of each. */
  attachments: ATTACHMENTS_MAX,
  attachmentBytes: ATTACHMENT_BYTES_MAX,
  /** Undelivered messages of one mailbox. */
  mailboxMessages: MAILBOX_MESSAGES_MAX,
  /** How long a received message is reserved for its reader before it is offered again. */
  acknowledgeMs: OFFER_VISIBLE_MS,
  /** Longest time to live of a message. */
  ttlMs: TTL_MS_MAX,
  /** How long `ask` waits where nothing is said, and at most. */
  askDefaultMs: ASK_WAIT_MS,
  askMs: WAIT_HOURS_MAX * HOUR_MS,
  /** How long any other call waits for the daemon. */
  answerMs: ANSWER_WAIT_MS,
  /** How long a worker that is stopped has between TERM and KILL where nothing is said, and at most. */
  killAfterDefaultMs: TAKEOVER_TERM_WAIT_MS,
  killAfterMs: KILL_AFTER_MS_MAX,
  /** Rows of one listing. */
  listRows: LIST_ROWS_MAX,
} as const;
