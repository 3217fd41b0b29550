import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "../client/connect.ts";
import { PIECE_BYTES_MAX, PIECE_MESSAGES_MAX, RECEIVE_WAIT_MS, RECONNECT_MS } from "../limits/index.ts";
import { isPerdureError, PerdureError } from "../protocol/errors.ts";
import type { ProjectRef } from "../protocol/calls/index.ts";
import { parseAddress } from "../protocol/names.ts";
import type { MessageRecord } from "../protocol/records/mail.ts";
import type { Lease } from "./lease.ts";
import type { Link } from "./link.ts";
import type { MailScope } from "./mailbox.ts";

/** The message that a turn is made for: a question, or mail that nobody waits for an answer to (`expectsReply` is false). */
export interface TurnMessage extends MessageRecord {
  /** The mail without a question that waited in front of it, oldest first. */
  before: readonly MessageRecord[];
  /** All of it in one piece: the body, or, with mail in front of it, each message below a line that says who sent it. */
  text: string;
  /** Aborted when the name is lost: the answer would be refused. */
  signal: AbortSignal;
}

/** Makes one turn. What it returns is the reply; for mail that nobody waits for an answer to, nobody gets it. */
export type TurnHandler = (message: TurnMessage) => string | void | Promise<string | void>;

/** Owns a name and makes its turns, one at a time, until it is stopped, its handler throws, or the name is lost. */
export class TurnServer implements AsyncDisposable {
  /** The name that is served: its address, run and generation. */
  readonly lease: Lease;
  /** Resolves after `stop`, and once the program has closed its connection; rejects with what the handler has thrown, or with `displaced` when another process took the name over. */
  readonly ended: Promise<void>;
  readonly #link: Link;
  readonly #sender: MailScope & { as: { run: string; generation: number; token: string }; nested: false };
  readonly #handler: TurnHandler;
  readonly #lost = new AbortController();
  readonly #stopping = new AbortController();
  /** The connection that mail is waited for on, which is closed to end the waiting. */
  #waiting: Client | null = null;
  #shared: Client | null = null;

  /** @internal */
  constructor(link: Link, lease: Lease, here: ProjectRef, handler: TurnHandler) {
    const { run, generation, token } = lease;
    const { project } = parseAddress(lease.address);
    this.#link = link;
    this.lease = lease;
    this.#sender = { here, project, as: { run, generation, token }, nested: false };
    this.#handler = handler;
    const { promise: lost, reject } = Promise.withResolvers<never>();
    lease.onDisplaced((by) => {
      const error = displacedError(lease.address, by);
      this.#lost.abort(error);
      this.#waiting?.close();
      reject(error);
    });
    // A handler that goes on after the name is lost is not waited for: nothing of it counts.
    this.ended = Promise.race([this.#serve(), lost]);
  }

  /** Takes no more mail, lets the turn under way answer, and gives the name back. What `ended` says of the server is not thrown here. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#waiting?.close();
    await Promise.allSettled([this.ended]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #serve(): Promise<void> {
    try {
      while (!this.#isOver) {
        const messages = await this.#nextMessages();
        if (messages.length > 0) await this.#makeTurn(messages);
      }
    } finally {
      this.#waiting?.close();
      // Whatever was not settled is offered to the next owner of the name.
      if (!this.#lost.signal.aborted && !this.#link.closed) await this.lease.release().catch(onlyPerdureErrors);
    }
  }

  get #isOver(): boolean {
    return this.#stopping.signal.aborted || this.#lost.signal.aborted || this.#link.closed;
  }

  /**
   * Takes what the next turn is for, message by message, so that nothing is taken that a later turn is for: all that waits, up to the
   * first question. Empty if there was nothing.
   */
  async #nextMessages(): Promise<MessageRecord[]> {
    const taken: MessageRecord[] = [];
    let bytes = 0;
    while (taken.length < PIECE_MESSAGES_MAX && bytes < PIECE_BYTES_MAX) {
      const message = await this.#take(taken);
      // One that comes again was returned to the mailbox, because taking them all took long.
      if (message === null || taken.some(({ id }) => id === message.id)) break;
      taken.push(message);
      bytes += Buffer.byteLength(message.body);
      if (message.expectsReply) break;
    }
    return this.#isOver ? [] : taken;
  }

  /** Takes the next message behind those; waits for one only in front of the first. */
  async #take(taken: readonly MessageRecord[]): Promise<MessageRecord | null> {
    const waitMs = taken.length === 0 ? RECEIVE_WAIT_MS : 0;
    const inHand = taken.map(({ id }) => id);
    const take = async (client: Client): Promise<MessageRecord[]> => {
      const params = { ...this.#sender, max: 1, waitMs, inHand };
      return (await client.call("takeMail", params, 2 * RECEIVE_WAIT_MS)).messages;
    };
    try {
      const messages = await this.#withRetries(async () => (this.#isOver ? [] : take(await this.#waitingClient())));
      return messages[0] ?? null;
    } catch (error) {
      if (this.#link.closed) return null;
      throw error;
    }
  }

  async #makeTurn(messages: readonly MessageRecord[]): Promise<void> {
    const before = messages.slice(0, -1);
    const message = messages.at(-1);
    if (message === undefined) return;
    const { signal } = this.#lost;
    const answer = await this.#handler({ ...message, before, text: inOnePiece(messages), signal });
    if (signal.aborted) return;
    if (!message.expectsReply) return this.#acknowledge(messages);
    if (typeof answer !== "string") throw noAnswer(message);
    await this.#reply(message, answer);
    await this.#acknowledge(before);
  }

  /** Replies under one id, so that a repeated call is no second answer. An asker who is gone reads none; the question is settled all the same. */
  async #reply({ id }: MessageRecord, body: string): Promise<void> {
    const params = { ...this.#sender, id, body, messageId: randomUUID(), attach: [] };
    try {
      await this.#withRetries(async () => (await this.#link.client()).call("reply", params));
    } catch (error) {
      if (!isPerdureError(error) || error.code !== "not-found") throw error;
      await this.#acknowledge([{ id }]);
    }
  }

  /** Acknowledges messages. A long turn outlasts their offers: those are taken once more, which is only to be told of. */
  async #acknowledge(messages: readonly Pick<MessageRecord, "id">[]): Promise<void> {
    let ids = messages.map(({ id }) => id);
    while (ids.length > 0) {
      const missed = await this.#ack(ids);
      if (missed.length === 0) return;
      // They are first in the mailbox. What is not there any more was cancelled, or has expired.
      const params = { ...this.#sender, max: missed.length, waitMs: 0, inHand: [] };
      const again = await this.#withRetries(async () => (await this.#link.client()).call("takeMail", params));
      const offered = new Set(again.messages.map(({ id }) => id));
      ids = missed.filter((id) => offered.has(id));
    }
  }

  async #ack(ids: string[]): Promise<string[]> {
    const { as, nested } = this.#sender;
    const call = async (client: Client): Promise<string[]> =>
      (await client.call("ack", { as, nested, ids, how: "read" })).missed;
    return this.#withRetries(async () => call(await this.#link.client()));
  }

  /** Repeats a call while there is no daemon, until the name is lost or the program closes its connection. */
  async #withRetries<T>(call: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await call();
      } catch (error) {
        if (this.#lost.signal.aborted) throw this.#lost.signal.reason;
        if (!isPerdureError(error) || error.code !== "unavailable" || this.#link.closed) throw error;
        await sleep(RECONNECT_MS);
      }
    }
  }

  /** Returns a connection of its own for waiting, which ends with the one of the program. */
  async #waitingClient(): Promise<Client> {
    const shared = await this.#link.client();
    if (shared !== this.#shared) {
      this.#shared = shared;
      shared.onClose(() => {
        if (this.#link.closed) this.#waiting?.close();
      });
    }
    if (this.#waiting !== null) return this.#waiting;
    const client = await this.#link.open();
    this.#waiting = client;
    client.onClose(() => {
      if (this.#waiting === client) this.#waiting = null;
    });
    if (this.#isOver) client.close();
    return client;
  }
}

/** The line in front of each message has a word in it that no sender can know, so that no body passes for two messages. */
function inOnePiece(messages: readonly MessageRecord[]): string {
  const [only] = messages;
  if (messages.length === 1 && only) return only.body;
  const mark = randomUUID().slice(0, 8);
  return messages.map(({ id, from, body }) => `--- ${mark}: message ${id} from ${from} ---\n${body}`).join("\n\n");
}

function displacedError(address: string, by: string): PerdureError {
  return new PerdureError("displaced", `${address} was taken over by ${by}.`, { details: { by } });
}

function noAnswer({ id, from }: MessageRecord): PerdureError {
  return new PerdureError("usage", `The handler returned no text, and ${from} waits for an answer to ${id}.`, {
    hint: "return the answer as a text",
  });
}

function onlyPerdureErrors(error: unknown): void {
  if (!isPerdureError(error)) throw error;
}
