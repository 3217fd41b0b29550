import { setTimeout as sleep } from "node:timers/promises";
import { RECONNECT_MS } from "../limits/index.ts";
import { isPerdureError } from "../protocol/errors.ts";
import type { ClaimGrant } from "../protocol/records/launch.ts";
import type { Admitted, MessageRecord } from "../protocol/records/mail.ts";
import { holdRunFifo } from "../runtime/process/run-fifo.ts";
import type { Link } from "./link.ts";
import {
  Mailbox,
  onlyOurs,
  type AskOptions,
  type MailScope,
  type ReceivedMessage,
  type SendOptions,
} from "./mailbox.ts";

/** A name that this process owns until the process releases the name, ends, or is displaced. */
export class Lease implements AsyncDisposable {
  readonly address: string;
  /** The id of the worker, which stays when it is renamed; null from a daemon of an earlier version. */
  readonly uid: string | null;
  readonly run: string;
  readonly generation: number;
  /** A process with this token acts as this worker: give it to a child as PERDURE_TOKEN. */
  readonly token: string;
  readonly #link: Link;
  readonly #mailbox: Mailbox;
  /** Closes the fifo of the run; while it is open, a daemon of another pid namespace knows that this process lives. */
  readonly #letGo: () => void;
  readonly #listeners = new Set<(by: string) => void>();
  #displacedBy: string | null = null;
  /** Aborted once this process no longer owns the name. */
  readonly #over = new AbortController();

  /** @internal */
  constructor(link: Link, grant: ClaimGrant, scope: MailScope) {
    this.#link = link;
    this.#letGo = holdRunFifo(grant.runDir);
    const { run, generation, token } = grant;
    this.#mailbox = new Mailbox(link, scope, { as: { run, generation, token }, nested: false, isWorker: true });
    this.address = grant.address;
    this.uid = grant.uid ?? null;
    this.run = grant.run;
    this.generation = grant.generation;
    this.token = grant.token;
    void this.#keepAlive();
  }

  /** Who took the name over; null while this process owns it. */
  get displacedBy(): string | null {
    return this.#displacedBy;
  }

  /** Calls the listener once the lease is displaced, immediately if it already is. The name then has another owner: stop, and never reclaim. */
  onDisplaced(listener: (by: string) => void): void {
    if (this.#displacedBy === null) this.#listeners.add(listener);
    else listener(this.#displacedBy);
  }

  /** Sends mail from this worker; the message is on disk when the promise resolves. */
  send(to: string, body: string, options?: SendOptions): Promise<Admitted> {
    return this.#mailbox.send(to, body, options);
  }

  /** Sends mail from this worker and waits for the reply. */
  ask(to: string, body: string, options?: AskOptions): Promise<MessageRecord> {
    return this.#mailbox.ask(to, body, options);
  }

  /**
   * Yields this worker's mail in order, beginning with what arrived while nobody owned the name. Acknowledge each message. Ends when the name
   * is released or lost.
   */
  receive(): AsyncGenerator<ReceivedMessage> {
    return this.#mailbox.receive(AbortSignal.any([this.#over.signal, this.#link.closing]));
  }

  /** Gives the name back. Throws `displaced` or `stale` if this process no longer owned it. */
  async release(): Promise<void> {
    if (this.#over.signal.aborted && this.#displacedBy === null) return;
    this.#over.abort();
    this.#letGo();
    const client = await this.#link.client();
    await client.call("release", this.#credentials());
  }

  /**
   * Releases the name, for `await using`, unless the lease was displaced. It never throws, because that would hide the error by which the
   * block is left: a name that could not be given back is free when this process ends.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#displacedBy === null) await this.release().catch(onlyOurs);
  }

  /** Keeps the lease alive until it is released or lost: when the daemon exits, reconnects to the next one. */
  async #keepAlive(): Promise<void> {
    while (!this.#over.signal.aborted && !this.#link.closed) {
      try {
        const client = await this.#link.client();
        await client.stream("keepalive", this.#credentials(), (item) => this.#displaced(item.displacedBy));
      } catch (error) {
        if (isPerdureError(error) && (error.code === "displaced" || error.code === "stale")) {
          const by = error.details?.by;
          this.#displaced(typeof by === "string" ? by : "somebody");
        }
      }
      if (!this.#over.signal.aborted) await sleep(RECONNECT_MS);
    }
    this.#letGo();
  }

  #credentials(): { run: string; generation: number; token: string } {
    return { run: this.run, generation: this.generation, token: this.token };
  }

  #displaced(by: string): void {
    if (this.#over.signal.aborted) return;
    this.#displacedBy = by;
    this.#over.abort();
    for (const listener of this.#listeners) listener(by);
  }
}
