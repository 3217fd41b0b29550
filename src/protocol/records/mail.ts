import { MESSAGE_BYTES_MAX } from "../../limits/index.ts";
import { PerdureError } from "../errors.ts";
import type { Hint } from "../hint.ts";
import type { WorkerState } from "./worker.ts";

// Mail to a worker, whether it runs or not: a message, and the steps it goes through.

/**
 * queued → offered to a run → injected (its vendor has shown it to the model) → read or answered; or, from anywhere before
 * that: expired, cancelled by its sender, superseded by a later one, dead (it cannot be delivered).
 */
export type MailState = (typeof MAIL_STATES)[number];

/** Every state, in the order of a message's life. */
export const MAIL_STATES = [
  "queued",
  "offered",
  "injected",
  "read",
  "answered",
  "expired",
  "cancelled",
  "superseded",
  "dead",
] as const;

/** A message in one of these states is on its way, and counts as unread. */
export const ON_THE_WAY: ReadonlySet<MailState> = new Set(["queued", "offered", "injected"]);

/** The states that a listing shows unless it is told others: the message is on its way, or it did not arrive. */
export const OPEN_STATES: readonly MailState[] = ["queued", "offered", "injected", "expired", "dead"];

export const OPERATOR = "operator";
export const SUPERVISOR = "supervisor";

/** Begins the sender's name of mail that was a file in a folder, before the file's name; no address has a `~` there. */
export const FILE_SENDER = "file~";

/** Tells whether a sender's name says that the message was a file, of which nobody knows who wrote it. */
export function isFileSender(name: string): boolean {
  return name.startsWith(FILE_SENDER);
}

/**
 * Returns the bytes of a text; throws if they are more than a message may have, or if the text has half of a character in it, which no
 * file could keep: it would not be the text that was sent.
 */
export function checkMessageText(text: string): number {
  if (!text.isWellFormed()) {
    throw new PerdureError("usage", "The text has half of a character in it (a lone surrogate).", {
      hint: "send whole characters: in JavaScript, text.toWellFormed()",
    });
  }
  const bytes = Buffer.byteLength(text);
  if (bytes <= MESSAGE_BYTES_MAX) return bytes;
  throw new PerdureError("usage", `The message has ${bytes} bytes; the limit is ${MESSAGE_BYTES_MAX}.`, {
    hint: "send it as a file: --attach FILE",
  });
}

export interface Attachment {
  name: string;
  /** The copy that was made when the message was sent. */
  file: string;
  bytes: number;
  sha256: string;
}

/** A message as its reader gets it. */
export interface MessageRecord {
  id: string;
  /** The id that no message of another machine has either: that of the store, a dot, and `id`. */
  uid: string;
  seq: number;
  /** An address, or `operator`. */
  from: string;
  to: string;
  body: string;
  state: MailState;
  /** The number of times it was offered. */
  attempt: number;
  createdAt: string;
  expiresAt: string | null;
  /** The message this one answers. */
  replyTo: string | null;
  expectsReply: boolean;
  attachments: Attachment[];
}

/** One change of a message's state. */
export interface MailStep {
  state: MailState;
  at: string;
  run: string | null;
  reason: string | null;
}

/** The way that a message will go, as things are when it is sent. */
export type MailOutlook =
  /** The reader is idle and is woken. */
  | "in a moment"
  /** The reader works; the message goes along with the next result of a tool, or prolongs the turn. */
  | "at the end of a step"
  /** The reader cannot be woken; the message goes along with what a person says next. */
  | "at its next prompt"
  | "at its next start"
  /** A person has led the reader's program into another worker's conversation, whose model must not get it. */
  | "when it is back in its own conversation"
  /** Nothing but `perdure inbox` gets it to its reader. */
  | "when it reads its inbox"
  /** Agents have woken each other, or this one, too often. */
  | "when a person prompts it"
  /** The reader's mail is paused. */
  | "when it is no longer paused"
  /** The reader has no process between messages: it is started for this one. */
  | "in a turn of its own"
  /** A person has the reader's conversation open, which no turn may be in at the same time. */
  | "when nobody has it open any more"
  /** The reader is on hold, or a bound keeps mail from beginning its turns. */
  | "when a person has looked at it";

/** News of a question while its answer is waited for; none of it is the answer. */
export type AskProgress =
  | { kind: "queued"; outlook: MailOutlook | null }
  | ({ kind: "worker" } & AskedWorker)
  | { kind: "started"; run: string }
  | { kind: "tool"; name: string }
  | { kind: "text"; text: string };

/** The worker that is asked as it is now, and what becomes of the question: told at first, and whenever that changes. */
export interface AskedWorker {
  name: string;
  state: WorkerState;
  /** The reason that `ls` shows beside the state. */
  attention: string | null;
  /** The way to have it answer; empty where it needs nobody. */
  next: Hint;
  outlook: MailOutlook | null;
  /** The state of the question. */
  question: MailState;
  /** Set where it has no process, and gets none by itself. */
  staysDown: boolean;
  /** Set where it never ran and was not brought up: only the fleet file has it. */
  isNew: boolean;
}

/** Says why a message waits for a person: its reader has no process, and gets none by itself. */
interface ReaderNeed {
  state: WorkerState;
  reason: string;
  next: Hint;
}

/** The receipt for a message that is on disk. */
export interface Admitted {
  id: string;
  /** The id that no message of another machine has either. */
  uid: string;
  to: string;
  state: MailState;
  seq: number;
  /** The name it was sent to, if the worker is called otherwise now. */
  renamedFrom: string | null;
  /** The same message was sent before, word for word, under the same id. */
  again: boolean;
  /** The way that it will go; null for the operator's mail. A daemon of an earlier version does not say. */
  outlook?: MailOutlook | null;
  /** Left out where the reader needs nobody first. */
  need?: ReaderNeed;
}

/** The id of a message can neither be an option nor leave a folder. */
export const MESSAGE_ID = /^[A-Za-z0-9](?:[A-Za-z0-9._:~-]{0,126}[A-Za-z0-9])?$/;
