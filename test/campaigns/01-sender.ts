import { setTimeout as sleep } from "node:timers/promises";
import { connectToDaemon, type Client } from "../../src/client/connect.ts";
import type { Admitted } from "../../src/protocol/records/mail.ts";
import type { ClaimGrant } from "../../src/protocol/records/launch.ts";
import type { Home } from "../support/home.ts";
import { check, pick, whole } from "../support/check.ts";
import { clientClaim } from "../support/in-home.ts";
import { askedToWaitMs, isUnavailable, sendParams } from "../support/send-params.ts";

interface Sent {
  id: string;
  to: string;
  body: string;
  seq: number;
}

/** One worker that sends one message after the other, and each again under its id until it is told that it is kept. */
export class Sender {
  readonly name: string;
  /** The acknowledged messages, in the order they were sent. */
  readonly sent: Sent[] = [];
  /** Tries that got no answer, and of those the messages that were on disk all the same. */
  readonly counts = { unanswered: 0, keptUnanswered: 0, repeated: 0 };
  readonly #home: Home;
  readonly #boxes: readonly string[];
  readonly #random: () => number;
  #client: Client | null = null;
  #lease: Pick<ClaimGrant, "run" | "generation" | "token"> | null = null;

  constructor(home: Home, name: string, boxes: readonly string[], random: () => number) {
    this.#home = home;
    this.name = name;
    this.#boxes = boxes;
    this.#random = random;
  }

  async claim(): Promise<void> {
    const { run, generation, token } = await (
      await this.#connected()
    ).call("claim", clientClaim(this.#home, this.name, process.pid));
    this.#lease = { run, generation, token };
  }

  async send(count: number, onAck: () => void): Promise<void> {
    for (let n = 0; n < count; n++) {
      const id = `${this.name}-${this.sent.length}`;
      const to = pick(this.#random, this.#boxes);
      const body = `${id} ${"x".repeat(whole(this.#random, 600))}`;
      this.sent.push({ id, to, body, seq: await this.#persist(id, to, body) });
      onAck();
      if (this.#random() < 0.05) await this.#repeat();
    }
  }

  close(): void {
    this.#client?.close();
  }

  async #persist(id: string, to: string, body: string): Promise<number> {
    for (let tries = 0; ; tries++) {
      try {
        const { seq, again } = await this.#try(id, to, body);
        check(tries > 0 || !again, `${id} was known before it was sent`);
        if (tries > 0 && again) this.counts.keptUnanswered++;
        return seq;
      } catch (error) {
        const waitMs = askedToWaitMs(error);
        if (waitMs === null && !isUnavailable(error)) throw error;
        if (waitMs === null) this.counts.unanswered++;
        else await sleep(waitMs);
      }
    }
  }

  /** Something long acknowledged, word for word: it must be the same message, whatever daemon is asked. */
  async #repeat(): Promise<void> {
    const { id, to, body, seq } = pick(this.#random, this.sent);
    const told = await this.#try(id, to, body).catch((error: unknown) => {
      if (isUnavailable(error)) return null;
      throw error;
    });
    if (told === null) return;
    check(told.again && told.seq === seq, () => `${id} was acknowledged as ${seq}, then as ${JSON.stringify(told)}`);
    this.counts.repeated++;
  }

  async #try(id: string, to: string, body: string): Promise<Admitted> {
    const client = await this.#connected();
    try {
      const { messages } = await client.call("send", sendParams(this.#home, to, body, { id, as: this.#lease }));
      check(messages[0]?.id === id, `a send of ${id} was answered for ${messages[0]?.id}`);
      return messages[0];
    } catch (error) {
      if (isUnavailable(error)) this.#client = null;
      throw error;
    }
  }

  async #connected(): Promise<Client> {
    return (this.#client ??= await this.#present());
  }

  /** Connects, which starts a daemon if there is none, and tells it that the lease's owner is here. */
  async #present(): Promise<Client> {
    const client = await connectToDaemon({ env: this.#home.env });
    if (this.#lease) client.stream("keepalive", this.#lease, () => undefined).catch(() => undefined);
    return client;
  }
}
