import { setTimeout as sleep } from "node:timers/promises";
import { RECONNECT_MS } from "../limits/index.ts";
import { isPerdureError } from "../protocol/errors.ts";
import type { ClaimGrant } from "../protocol/records/launch.ts";
import type { Admitted, MessageRecord } from "../protocol/records/mail.ts";
import type { Link } from "./link.ts";
import { Mailbox, type AskOptions, type ReceivedMessage, type SendOptions } from "./mailbox.ts";

/** A name this process owns, until it releases it, ends, or is displaced. */
export class Lease implements AsyncDisposable {
  readonly address: string;
  readonly run: string;
  readonly generation: number;
  /** A process with this token acts as this worker: give it to a child as PERDURE_TOKEN. */
  readonly token: string;
  readonly #link: Link;
  readonly #mailbox: Mailbox;
  readonly #listeners = new Set<(by: string) => void>();
  #displacedBy: string | null = null;
  #ended = false;

  /** @internal */
  constructor(link: Link, grant: ClaimGrant, place: ConstructorParameters<typeof Mailbox>[1]) {
    this.#link = link;
    const { run, generation, token } = grant;
    this.#mailbox = new Mailbox(link, place, { run, generation, token });
    this.address = grant.address;
    this.run = grant.run;
    this.generation = grant.generation;
    this.token = grant.token;
    void this.#keepAlive();
  }

  /** The name of whoever took the name over; null while it is ours. */
  get displacedBy(): string | null {
    return this.#displacedBy;
  }

  /** Calls the listener once, at once if it has happened already. The name is then somebody else's: stop, never reclaim. */
  onDisplaced(listener: (by: string) => void): void {
    if (this.#displacedBy === null) this.#listeners.add(listener);
    else listener(this.#displacedBy);
  }

  /** Sends mail from this worker; it is on disk when this resolves. */
  send(to: string, body: string, options?: SendOptions): Promise<Admitted> {
    return this.#mailbox.send(to, body, options);
  }

  /** Sends mail from this worker and waits for the answer. */
  ask(to: string, body: string, options?: AskOptions): Promise<MessageRecord> {
    return this.#mailbox.ask(to, body, options);
  }

  /** Gives this worker's mail in order, beginning with what came while nobody had the name. Acknowledge each message. */
  receive(): AsyncGenerator<ReceivedMessage> {
    return this.#mailbox.receive(() => this.#ended);
  }

  /** Gives the name back. Throws `displaced` or `stale` if it was no longer ours. */
  async release(): Promise<void> {
    if (this.#ended && this.#displacedBy === null) return;
    this.#ended = true;
    const client = await this.#link.client();
    await client.call("release", this.#credentials());
  }

  /** Releases the name if it is still ours, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#displacedBy === null) await this.release();
  }

  /** Keeps the lease alive. Only a loss ends it: when the daemon exits, the next one is told that this process is here. */
  async #keepAlive(): Promise<void> {
    while (!this.#ended && !this.#link.closed) {
      try {
        const client = await this.#link.client();
        await client.stream("keepalive", this.#credentials(), (item) => this.#displaced(item.displacedBy));
      } catch (error) {
        if (isPerdureError(error) && (error.code === "displaced" || error.code === "stale")) {
          const by = error.details?.by;
          return this.#displaced(typeof by === "string" ? by : "somebody");
        }
      }
      if (!this.#ended) await sleep(RECONNECT_MS);
    }
  }

  #credentials(): { run: string; generation: number; token: string } {
    return { run: this.run, generation: this.generation, token: this.token };
  }

  #displaced(by: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#displacedBy = by;
    for (const listener of this.#listeners) listener(by);
  }
}
