import type { WaitingAsk } from "../../core/ask-cycle.ts";
import {
  EVENT_ROWS_DEFAULT,
  MAIL_SWEEP_MS,
  OFFER_VISIBLE_MS,
  SENDER_BURST,
  SENDER_PER_SECOND,
} from "../../limits/index.ts";
import type { MailOutlook } from "../../protocol/records/mail.ts";
import { spendAllowance, type SendAllowance } from "../../core/mail.ts";
import { allOffers, messagesExpiredBy, messageBySeq } from "../../store/messages.ts";
import type { BaseServices } from "../base-services.ts";
import type { MailClock } from "./clock.ts";
import { MessageIds } from "./message-ids.ts";
import { askKey } from "./mailbox-change.ts";
import { transition } from "./transition.ts";

type MailRuntimeServices = Pick<BaseServices, "db" | "writer" | "now" | "monotonicMs" | "log">;

/** The couriers, which put mail where the agents of workers may take it at any moment. */
interface MailCouriers {
  /** Takes back, inside a change, the mail of a worker, and records what was taken. */
  recall(workerId: number): void;
  /** Looks again at what there is to deliver to a worker. */
  review(workerId: number): void;
  /** Tells what will become of a message that is sent to a worker now. */
  outlookOf(workerId: number): MailOutlook;
}

/** The volatile state of mail: send rates, offer deadlines, listeners and open asks. Everything durable is in the store. */
export class MailRuntime {
  readonly #services: MailRuntimeServices;
  readonly #allowances = new Map<number, SendAllowance>();
  /** The monotonic time at which each offer is taken back. */
  readonly #deadlines = new Map<number, number>();
  readonly #listeners = new Map<string, Set<() => void>>();
  /** Asks with a sender that waits now, on a live connection. */
  readonly #waiting = new Map<string, WaitingAsk & { connections: number }>();
  readonly #clock: MailClock;
  readonly #ids = new MessageIds();
  #timer: NodeJS.Timeout | null = null;
  #turnOutlookOf: (workerId: number) => MailOutlook | null = () => null;
  #couriers: MailCouriers = {
    recall: () => undefined,
    review: () => undefined,
    outlookOf: () => "when it reads its inbox",
  };

  constructor(services: MailRuntimeServices, clock: MailClock) {
    this.#services = services;
    this.#clock = clock;
  }

  /** Starts the sweeps. Every offer gets its full time again, because its run may have been waiting for the daemon. */
  start(): void {
    for (const { seq } of allOffers(this.#services.db)) this.startOfferDeadline(seq);
    this.#clock.persist().catch((error: unknown) => this.#services.log(`mail: ${String(error)}`));
    this.#timer = setInterval(() => void this.sweep(), MAIL_SWEEP_MS).unref();
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
  }

  now(): number {
    return this.#clock.now();
  }

  mintId(): string {
    return this.#ids.mint();
  }

  /** Counts one message of the sender and returns 0, or returns how long the sender has to wait before it may send. */
  waitBeforeSending(worker: number): number {
    const rate = { burst: SENDER_BURST, perSecond: SENDER_PER_SECOND };
    const { allowance, waitMs } = spendAllowance(
      this.#allowances.get(worker) ?? null,
      this.#services.monotonicMs(),
      rate,
    );
    this.#allowances.set(worker, allowance);
    return waitMs;
  }

  /** Sets those who put mail where agents may take it at any moment. */
  setCouriers(couriers: MailCouriers): void {
    this.#couriers = couriers;
  }

  /**
   * Takes back, inside a change, the mail that waits where the worker's agent may take it, and records what was taken: afterwards the
   * states in the store are true, and somebody else may decide on them.
   */
  recall(workerId: number | null): void {
    if (workerId !== null) this.#couriers.recall(workerId);
  }

  outlookOf(workerId: number): MailOutlook {
    return this.#turnOutlookOf(workerId) ?? this.#couriers.outlookOf(workerId);
  }

  /** Sets who knows what becomes of mail that begins turns; null for a worker without any. */
  setTurnOutlook(outlookOf: (workerId: number) => MailOutlook | null): void {
    this.#turnOutlookOf = outlookOf;
  }

  /** Leaves it to the caller to take an offer back. */
  dropOfferDeadline(seq: number): void {
    this.#deadlines.delete(seq);
  }

  /** Tells whether an offer is taken back by itself; one that a courier confirms is not. */
  hasOfferDeadline(seq: number): boolean {
    return this.#deadlines.has(seq);
  }

  startOfferDeadline(seq: number): void {
    this.#deadlines.set(seq, this.#services.monotonicMs() + OFFER_VISIBLE_MS);
  }

  get waiting(): Iterable<WaitingAsk> {
    return this.#waiting.values();
  }

  /** Makes the open asks of a worker check again, because its run ended or lost its name. */
  notifyAskers(worker: number): void {
    for (const { ask, from } of this.#waiting.values()) if (from === worker) this.notify(askKey(ask));
  }

  /** Registers that a sender waits for the answer, until the returned function is called. */
  wait(waiting: WaitingAsk): () => void {
    const known = this.#waiting.get(waiting.ask) ?? { ...waiting, connections: 0 };
    known.connections++;
    this.#waiting.set(waiting.ask, known);
    return () => {
      known.connections--;
      if (known.connections > 0) return;
      this.#waiting.delete(waiting.ask);
      // A reply that its asker did not wait for any more goes the way of other mail.
      if (waiting.from !== null) this.#couriers.review(waiting.from);
    };
  }

  /** Tells whether the sender of an ask waits for the reply now, and gets it that way. */
  isAwaited(ask: string): boolean {
    return this.#waiting.has(ask);
  }

  /** Calls the listener after each change under the key is on disk; returns a function that removes it. */
  listen(key: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(key) ?? new Set();
    this.#listeners.set(key, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(key);
    };
  }

  /** Notifies the listeners of a key. May be called inside a change, which is one turn of the event loop: they come after it. */
  notify(key: string): void {
    const listeners = this.#listeners.get(key);
    if (!listeners) return;
    setImmediate(() => {
      for (const listener of listeners) listener();
    });
  }

  /** Expires messages, and takes back offers that were not acknowledged in time. */
  async sweep(): Promise<void> {
    try {
      await this.#expire();
      await this.#returnOverdue();
    } catch (error) {
      this.#services.log(`mail: ${String(error)}`);
    }
  }

  async #expire(): Promise<void> {
    for (;;) {
      const due = messagesExpiredBy(this.#services.db, this.now(), EVENT_ROWS_DEFAULT);
      if (due.length === 0) return;
      await this.#services.writer.write(() => {
        // Each message is read again, because an earlier change may have moved it on.
        for (const { toWorker } of due) this.recall(toWorker);
        for (const { seq } of due) this.#transition(seq, "expire", "its time to live ended");
      });
    }
  }

  async #returnOverdue(): Promise<void> {
    const now = this.#services.monotonicMs();
    const overdue = [...this.#deadlines].filter(([, deadline]) => deadline <= now).map(([seq]) => seq);
    if (overdue.length === 0) return;
    await this.#services.writer.write(() => {
      for (const seq of overdue) this.#transition(seq, "return", "it was not acknowledged in time");
    });
    // A message that was offered again meanwhile has a new deadline.
    for (const seq of overdue) if ((this.#deadlines.get(seq) ?? 0) <= now) this.#deadlines.delete(seq);
  }

  #transition(seq: number, event: "expire" | "return", reason: string): void {
    const message = messageBySeq(this.#services.db, seq);
    if (message) transition({ ...this.#services, mail: this }, message, event, { run: message.offerRun, reason });
  }
}
