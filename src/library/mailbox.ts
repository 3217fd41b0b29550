import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ASK_WAIT_MS, IN_HAND_MAX, OFFERS_PER_CALL, RECONNECT_MS } from "../limits/index.ts";
import type { ProjectRef } from "../protocol/calls/index.ts";
import { isPerdureError, PerdureError } from "../protocol/errors.ts";
import type { Admitted, MessageRecord } from "../protocol/records/mail.ts";
import { parseRecipient } from "../protocol/names.ts";
import type { Link } from "./link.ts";

export interface SendOptions {
  /** The same id with the same text is the same message; with another text, a conflict. */
  id?: string;
  /** The message expires if nobody has read it by then. */
  ttlMs?: number;
  /** The id of an earlier message to the same reader that this one replaces, if it is unread. */
  supersedes?: string;
  expectsReply?: boolean;
  /** Files to send along. */
  attach?: readonly string[];
}

export interface AskOptions {
  id?: string;
  ttlMs?: number;
  attach?: readonly string[];
  /** Ten minutes by default. Then `ask` throws `timed-out`; the answer still comes to the box. */
  timeoutMs?: number;
}

/** A message that was offered. It is offered again if it is not acknowledged within a minute, or before the process ends. */
export interface ReceivedMessage extends MessageRecord {
  /** Says that the message was read. False if it was no longer this reader's to acknowledge. */
  ack(): Promise<boolean>;
  /** Answers the message, which acknowledges it too. */
  reply(body: string, options?: { id?: string; attach?: readonly string[] }): Promise<Admitted>;
}

interface LeaseCredentials {
  run: string;
  generation: number;
  token: string;
}

/** How long one call waits for mail before the next one is made. */
const RECEIVE_WAIT_MS = 20_000;

/**
 * Sends and takes mail on behalf of a lease, or of whoever the connection belongs to, over restarts of the daemon.
 * @internal
 */
export class Mailbox {
  readonly #link: Link;
  readonly #sender: { here: ProjectRef; project: string | null; as: LeaseCredentials | null; nested: false };
  /** The ids of messages that arrived and are not acknowledged. */
  readonly #unacknowledged = new Set<string>();

  constructor(link: Link, place: { here: ProjectRef; project: string | null }, as: LeaseCredentials | null) {
    this.#link = link;
    this.#sender = { ...place, as, nested: false };
  }

  async send(to: string, body: string, options: SendOptions = {}): Promise<Admitted> {
    const { project, name } = parseRecipient(to);
    // Chosen here, so that an answer that was lost on the way can be asked for again.
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
    if (!admitted) throw new Error("a message was taken in and not answered for");
    return admitted;
  }

  async ask(to: string, body: string, options: AskOptions = {}): Promise<MessageRecord> {
    const { project, name } = parseRecipient(to);
    const waitMs = options.timeoutMs ?? ASK_WAIT_MS;
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
      return (await this.#link.client()).call("ask", { ...params, waitMs: leftMs }, leftMs + RECEIVE_WAIT_MS);
    });
    await this.#ack(reply.id);
    return reply;
  }

  /** Gives mail in order, as it comes. Messages that are not acknowledged when the loop is left are offered again after a while. */
  async *receive(over: () => boolean): AsyncGenerator<ReceivedMessage> {
    while (!over()) {
      let tries = 0;
      const { messages } = await this.#retryWhileUnavailable(async () => {
        const client = await this.#link.client();
        // The first answer may be lost with mail in it, which would else come after what was sent later.
        const arrived = tries++ === 0 ? {} : { inHand: [...this.#unacknowledged].slice(-IN_HAND_MAX) };
        const params = { ...this.#sender, max: OFFERS_PER_CALL, waitMs: RECEIVE_WAIT_MS, ...arrived };
        return client.call("takeMail", params, 2 * RECEIVE_WAIT_MS);
      });
      for (const { id } of messages) this.#markUnacknowledged(id);
      for (const message of messages) yield this.#received(message);
    }
  }

  /** Puts the newest last, and drops the oldest beyond the bound: it was offered anew long ago. */
  #markUnacknowledged(id: string): void {
    this.#unacknowledged.delete(id);
    this.#unacknowledged.add(id);
    const [oldest] = this.#unacknowledged;
    if (this.#unacknowledged.size > IN_HAND_MAX && oldest !== undefined) this.#unacknowledged.delete(oldest);
  }

  #received(message: MessageRecord): ReceivedMessage {
    const ack = (): Promise<boolean> => this.#ack(message.id);
    const reply: ReceivedMessage["reply"] = async (body, options = {}) => {
      const messageId = options.id ?? newId();
      const params = { ...this.#sender, id: message.id, body, messageId, attach: absolutePaths(options.attach) };
      const admitted = await this.#retryWhileUnavailable(async () => (await this.#link.client()).call("reply", params));
      this.#unacknowledged.delete(message.id);
      return admitted;
    };
    return { ...message, ack, reply };
  }

  async #ack(id: string): Promise<boolean> {
    const { as, nested } = this.#sender;
    const params = { as, nested, ids: [id], how: "read" as const };
    const { acked } = await this.#retryWhileUnavailable(async () => (await this.#link.client()).call("ack", params));
    this.#unacknowledged.delete(id);
    return acked.length === 1;
  }

  /** Repeats a call while the daemon is away. The ids make a second call the same as the first. */
  async #retryWhileUnavailable<T>(act: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await act();
      } catch (error) {
        const left = isPerdureError(error) && error.code === "unavailable" && !this.#link.closed;
        if (!left) throw error;
        await sleep(RECONNECT_MS);
      }
    }
  }
}

function newId(): string {
  return randomUUID();
}

function absolutePaths(files: readonly string[] = []): string[] {
  return files.map((file) => resolve(file));
}
