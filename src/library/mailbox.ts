import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  ASK_WAIT_MS,
  HOUR_MS,
  IN_HAND_MAX,
  OFFERS_PER_CALL,
  RECEIVE_WAIT_MS,
  RECONNECT_MS,
  WAIT_HOURS_MAX,
} from "../limits/index.ts";
import type { ProjectRef } from "../protocol/calls/index.ts";
import { isPerdureError, PerdureError } from "../protocol/errors.ts";
import type { Admitted, AskProgress, MessageRecord } from "../protocol/records/mail.ts";
import { parseRecipient } from "../protocol/names.ts";
import type { Link } from "./link.ts";
import { requireFunction, requireMs, requireOptions, requireText, requireTexts } from "./require.ts";

export interface SendOptions {
  /** Makes a retry safe: the same id with the same text is the same message, with another text a conflict. */
  id?: string;
  /** How long the message waits for a reader before it expires. */
  ttlMs?: number;
  /** The id of an earlier message to the same recipient, which this one replaces if it is unread. */
  supersedes?: string;
  expectsReply?: boolean;
  /** Files to send along. */
  attach?: readonly string[];
}

export interface AskOptions {
  id?: string;
  ttlMs?: number;
  attach?: readonly string[];
  /** Ten minutes by default. After that `ask` throws `timed-out`, and a later reply arrives in the mailbox. */
  timeoutMs?: number;
  /** Called with what becomes of the question; a worker that is no worker of turns shows no more than `queued` and `worker`. Told anew after a restart of the daemon. */
  onProgress?: (progress: AskProgress) => void;
}

export interface ReplyOptions {
  /** Makes a retry safe, as in `send`. */
  id?: string;
  attach?: readonly string[];
}

/** A received message. A message that is not acknowledged within a minute, or before the process ends, is offered again. */
export interface ReceivedMessage extends MessageRecord {
  /** Acknowledges that the message was read. Resolves to false if it is no longer offered to this reader. */
  ack(): Promise<boolean>;
  /** Replies to the message, which also acknowledges it. */
  reply(body: string, options?: ReplyOptions): Promise<Admitted>;
}

interface LeaseCredentials {
  run: string;
  generation: number;
  token: string;
}

/** Whom a mailbox belongs to: a lease, else whoever the connection's token says; a nested agent has none of its own. */
interface MailOwner {
  as: LeaseCredentials | null;
  nested: boolean;
  isWorker: boolean;
}

export interface MailScope {
  here: ProjectRef;
  project: string | null;
}

/**
 * Sends and receives mail on behalf of a lease, or of the connection's own identity, across restarts of the daemon.
 * @internal
 */
export class Mailbox {
  readonly #link: Link;
  readonly #sender: MailScope & Pick<MailOwner, "as" | "nested">;
  readonly #isWorker: boolean;
  /** The ids of messages that arrived and were not acknowledged yet, oldest first. */
  readonly #unacknowledged = new Set<string>();

  constructor(link: Link, scope: MailScope, { as, nested, isWorker }: MailOwner) {
    this.#link = link;
    this.#sender = { ...scope, as, nested };
    this.#isWorker = isWorker;
  }

  async send(to: string, body: string, options: SendOptions = {}): Promise<Admitted> {
    const { project, name } = parseRecipient(requireText("the recipient", to));
    requireOptions(options);
    // Chosen on this side, so that the call can be repeated when its answer was lost.
    const id = options.id ?? newId();
    const params = {
      ...this.#sender,
      ...(project === null ? {} : { project }),
      to: [name],
      all: false,
      body,
      id,
      ttlMs: options.ttlMs ?? null,
      supersedes: options.supersedes ?? null,
      expectsReply: options.expectsReply ?? false,
      attach: absolutePaths(options.attach),
      declared: [],
    };
    const { messages } = await this.#retryWhileUnavailable(async () =>
      (await this.#link.client()).call("send", params),
    );
    const [admitted] = messages;
    if (!admitted) throw new PerdureError("internal", "The daemon admitted no message.");
    return admitted;
  }

  async ask(to: string, body: string, options: AskOptions = {}): Promise<MessageRecord> {
    const { project, name } = parseRecipient(requireText("the recipient", to));
    const { timeoutMs = ASK_WAIT_MS, onProgress } = requireOptions(options);
    const waitMs = requireMs("timeoutMs", timeoutMs, WAIT_HOURS_MAX * HOUR_MS);
    if (onProgress !== undefined) requireFunction("onProgress", onProgress);
    const deadline = performance.now() + waitMs;
    const params = {
      ...this.#sender,
      ...(project === null ? {} : { project }),
      to: name,
      body,
      id: options.id ?? newId(),
      ttlMs: options.ttlMs ?? null,
      attach: absolutePaths(options.attach),
      declared: [],
    };
    const { reply } = await this.#retryWhileUnavailable(async () => {
      const leftMs = Math.max(0, Math.round(deadline - performance.now()));
      if (leftMs === 0) throw new PerdureError("timed-out", `No answer to ${params.id} in ${waitMs / 1000} s.`);
      const client = await this.#link.client();
      const asked = { ...params, waitMs: leftMs };
      if (!onProgress) return client.call("ask", asked, leftMs + RECEIVE_WAIT_MS);
      return client.stream("ask", { ...asked, progress: true }, onProgress);
    });
    // The answer is there, whatever becomes of its acknowledgement: unacknowledged, it arrives in the mailbox as well.
    await this.#ack(reply.id).catch(onlyOurs);
    return reply;
  }

  /**
   * Yields mail in order as it arrives, until the signal says that it is over. Messages that are unacknowledged when the caller leaves the
   * loop are offered again later.
   */
  async *receive(over: AbortSignal): AsyncGenerator<ReceivedMessage> {
    for (;;) {
      const messages = await untilOver(() => this.#take(), over);
      if (messages === null) return;
      for (const { id } of messages) this.#markUnacknowledged(id);
      for (const message of messages) yield this.#received(message);
    }
  }

  /** Takes what waits, or the next message that comes; none if none comes for a while. */
  async #take(): Promise<MessageRecord[]> {
    let attempts = 0;
    const { messages } = await this.#retryWhileUnavailable(async () => {
      const client = await this.#link.client();
      // A lost first answer may have had mail in it. Saying what did arrive has the rest offered again, in order.
      // The operator has no run: there, an offered message may be with another reader.
      const arrived =
        attempts++ === 0 || !this.#isWorker ? {} : { inHand: [...this.#unacknowledged].slice(-IN_HAND_MAX) };
      const params = { ...this.#sender, max: OFFERS_PER_CALL, waitMs: RECEIVE_WAIT_MS, ...arrived };
      return client.call("takeMail", params, 2 * RECEIVE_WAIT_MS);
    });
    return messages;
  }

  /** Records a message as the newest unacknowledged one, and drops the oldest beyond the bound, which was offered again long ago. */
  #markUnacknowledged(id: string): void {
    this.#unacknowledged.delete(id);
    this.#unacknowledged.add(id);
    const [oldest] = this.#unacknowledged;
    if (this.#unacknowledged.size > IN_HAND_MAX && oldest !== undefined) this.#unacknowledged.delete(oldest);
  }

  #received(message: MessageRecord): ReceivedMessage {
    const ack = (): Promise<boolean> => this.#ack(message.id);
    const reply: ReceivedMessage["reply"] = (body, options) => this.reply(message.id, body, options);
    return { ...message, ack, reply };
  }

  /** Replies to a message, which also acknowledges it. */
  async reply(id: string, body: string, options: ReplyOptions = {}): Promise<Admitted> {
    const messageId = requireOptions(options).id ?? newId();
    const params = { ...this.#sender, id, body, messageId, attach: absolutePaths(options.attach) };
    const admitted = await this.#retryWhileUnavailable(async () => (await this.#link.client()).call("reply", params));
    this.#unacknowledged.delete(id);
    return admitted;
  }

  async #ack(id: string): Promise<boolean> {
    const { as, nested } = this.#sender;
    const params = { as, nested, ids: [id], how: "read" as const };
    const { acked } = await this.#retryWhileUnavailable(async () => (await this.#link.client()).call("ack", params));
    this.#unacknowledged.delete(id);
    return acked.length === 1;
  }

  /** Repeats a call while the daemon is unavailable; the message ids make the repetition harmless. */
  async #retryWhileUnavailable<T>(call: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await call();
      } catch (error) {
        const isUnavailable = isPerdureError(error) && error.code === "unavailable";
        if (!isUnavailable || this.#link.closed) throw error;
        await sleep(RECONNECT_MS);
      }
    }
  }
}

/**
 * Passes over one of our errors, where the result is there whatever becomes of the last step; for `catch`.
 * @internal
 */
export function onlyOurs(error: unknown): void {
  if (!isPerdureError(error)) throw error;
}

/** Resolves to null once the signal says that it is over, also where the work then fails, or is still under way. */
function untilOver<T>(start: () => Promise<T>, over: AbortSignal): Promise<T | null> {
  if (over.aborted) return Promise.resolve(null);
  const { promise, resolve: settle, reject } = Promise.withResolvers<T | null>();
  const stop = (): void => settle(null);
  over.addEventListener("abort", stop, { once: true });
  start()
    .then(settle, (error: unknown) => (over.aborted ? settle(null) : reject(error)))
    .finally(() => over.removeEventListener("abort", stop));
  return promise;
}

function newId(): string {
  return randomUUID();
}

function absolutePaths(files: readonly string[] = []): string[] {
  return requireTexts("files to attach", files).map((file) => resolve(file));
}
