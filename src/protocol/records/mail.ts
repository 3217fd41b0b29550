import { MESSAGE_BYTES_MAX } from "../../limits/index.ts";
import { PerdureError } from "../errors.ts";

// Mail to a worker, whether it runs or not: what a message is, and what becomes of it.

/**
 * queued → offered to a run → injected (its vendor has shown it to the model) → read or answered; or, from anywhere before
 * that: expired, cancelled by its sender, superseded by a later one, dead (it cannot be delivered).
 */
export type MailState =
  | "queued"
  | "offered"
  | "injected"
  | "read"
  | "answered"
  | "expired"
  | "cancelled"
  | "superseded"
  | "dead";

/** Still on its way: it counts as unread. */
export const ON_THE_WAY: ReadonlySet<MailState> = new Set(["queued", "offered", "injected"]);

export const OPERATOR = "operator";
export const SUPERVISOR = "supervisor";

/** Throws for a text that is longer than a message may be; its bytes else. */
export function checkMessageBytes(text: string): number {
  const bytes = Buffer.byteLength(text);
  if (bytes <= MESSAGE_BYTES_MAX) return bytes;
  throw new PerdureError("usage", `The message has ${bytes} bytes; at most ${MESSAGE_BYTES_MAX} are taken.`, {
    hint: "send it as a file: --attach FILE",
  });
}

export interface Attachment {
  name: string;
  /** Where the copy lies that was made when it was sent. */
  file: string;
  bytes: number;
  sha256: string;
}

/** A message as its reader gets it. */
export interface MessageRecord {
  id: string;
  seq: number;
  /** An address, or `operator`. */
  from: string;
  to: string;
  body: string;
  state: MailState;
  /** How often it was offered. */
  attempt: number;
  createdAt: string;
  expiresAt: string | null;
  /** The message this one answers. */
  replyTo: string | null;
  expectsReply: boolean;
  attachments: Attachment[];
}

/** One thing that became of a message. */
export interface MailStep {
  state: MailState;
  at: string;
  run: string | null;
  reason: string | null;
}

/** What is said of a message that was taken in. */
export interface Admitted {
  id: string;
  to: string;
  state: MailState;
  seq: number;
  /** The name it was sent to is now another: "X is now Y". */
  renamedFrom: string | null;
  /** It had been sent before, word for word. */
  again: boolean;
}

/** Nothing that could be an option or leave a folder. */
export const MESSAGE_ID = /^[A-Za-z0-9](?:[A-Za-z0-9._:~-]{0,126}[A-Za-z0-9])?$/;
