import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { MailClock } from "../../src/daemon/mail/clock.ts";
import { MailRuntime } from "../../src/daemon/mail/runtime.ts";
import { transition } from "../../src/daemon/mail/transition.ts";
import { MAIL_SWEEP_MS, OFFER_VISIBLE_MS } from "../../src/limits/index.ts";
import type { Db } from "../../src/store/db.ts";
import { insertMessage, messageBySeq, type Message } from "../../src/store/messages.ts";
import { closeStore, openStore } from "../../src/store/open.ts";
import { insertProject } from "../../src/store/projects.ts";
import { insertWorker } from "../../src/store/workers.ts";
import { Writer } from "../../src/store/writer.ts";
import { check, pick, whole } from "../support/check.ts";

export interface MailTally {
  sent: number;
  offers: number;
  mailExpired: number;
  returned: number;
}

interface Letter {
  seq: number;
  /** By the machine's own time, asleep or not, which nobody sets. */
  sentAtMs: number;
  ttlMs: number | null;
  /** When it was offered, or offered anew by a restart, by the daemon's clock. */
  offeredAtMs: number | null;
}

const LONGEST_TTL_MS = 600_000;

/** The daemon's own mail, with a real store, run by clocks that do what they like: the wall's is set, the machine sleeps. */
export class SimulatedMail {
  readonly #random: () => number;
  readonly #tally: MailTally;
  readonly #folder = mkdtempSync(join(tmpdir(), "perdure-mail-clocks-"));
  readonly #db: Db;
  readonly #writer: Writer;
  readonly #project: number;
  readonly #worker: number;
  #letters: Letter[] = [];
  #wallMs = 1_700_000_000_000;
  #machineMs = 5_000_000;
  #monotonicMs = 0;
  #mail: MailRuntime;

  constructor(random: () => number, tally: MailTally) {
    this.#random = random;
    this.#tally = tally;
    this.#db = openStore(join(this.#folder, "perdure.db")).db;
    this.#writer = new Writer(this.#db, { onCommit: () => undefined, onFailure: (kind) => check(false, kind) });
    const row = { slug: "api", slugKey: "api", identity: "/api", root: "/api", createdMs: 0 };
    this.#project = insertProject(this.#db, row);
    this.#worker = insertWorker(this.#db, {
      projectId: this.#project,
      name: "w",
      nameKey: "w",
      createdMs: 0,
      ephemeral: false,
    }).id;
    this.#mail = this.#daemon();
  }

  close(): void {
    closeStore(this.#db);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async step(jumpsMs: readonly number[]): Promise<void> {
    await turn(); // a daemon lives long enough to write down when it began
    const dice = this.#random();
    if (dice < 0.15) this.#wallMs += pick(this.#random, jumpsMs);
    else if (dice < 0.22) await this.#sleep();
    else if (dice < 0.3) await this.#restart();
    else if (dice < 0.55) this.#send();
    else if (dice < 0.75) this.#offer();
    else await this.#passAwake(1 + whole(this.#random, 30));
  }

  #daemon(): MailRuntime {
    const clocks = {
      db: this.#db,
      writer: this.#writer,
      processes: { bootId: () => "this-boot" },
      now: () => this.#wallMs,
      monotonicMs: () => this.#monotonicMs,
      log: (line: string) => check(false, line),
    };
    const mail = new MailRuntime(clocks, new MailClock(clocks, () => this.#machineMs));
    mail.start();
    mail.stop(); // swept by us, at our times
    return mail;
  }

  /** The machine's uptime goes on, the daemon's clock does not. */
  async #sleep(): Promise<void> {
    const ms = whole(this.#random, 2 * LONGEST_TTL_MS);
    this.#machineMs += ms;
    this.#wallMs += ms;
    await this.#passAwake(2);
  }

  async #restart(): Promise<void> {
    this.#monotonicMs = whole(this.#random, 100);
    this.#mail = this.#daemon();
    for (const letter of this.#letters) if (letter.offeredAtMs !== null) letter.offeredAtMs = this.#monotonicMs;
    await this.#passAwake(1);
  }

  #send(): void {
    const ttlMs = this.#random() < 0.7 ? 1 + whole(this.#random, LONGEST_TTL_MS) : null;
    const nowMs = this.#mail.now();
    const seq = insertMessage(this.#db, {
      id: `m${this.#tally.sent++}-${whole(this.#random, 2 ** 30)}`,
      projectId: this.#project,
      toWorker: this.#worker,
      fromWorker: null,
      fromName: "operator",
      fromRun: null,
      body: "x",
      digest: "x",
      createdMs: nowMs,
      expiresMs: ttlMs === null ? null : nowMs + ttlMs,
      replyTo: null,
      expectsReply: false,
      attachments: [],
      hops: 0,
    });
    this.#letters.push({ seq, sentAtMs: this.#machineMs, ttlMs, offeredAtMs: null });
  }

  #offer(): void {
    const letter = this.#letters.find(
      ({ seq, offeredAtMs }) => offeredAtMs === null && this.#row(seq).state === "queued",
    );
    if (!letter) return;
    const services = { db: this.#db, now: () => this.#wallMs, mail: this.#mail };
    transition(services, this.#row(letter.seq), "offer", { run: "r", generation: 1 });
    this.#mail.startOfferDeadline(letter.seq);
    letter.offeredAtMs = this.#monotonicMs;
    this.#tally.offers++;
  }

  async #passAwake(sweeps: number): Promise<void> {
    for (let sweep = 0; sweep < sweeps; sweep++) {
      const ms = MAIL_SWEEP_MS + whole(this.#random, 100);
      this.#monotonicMs += ms;
      this.#machineMs += ms;
      this.#wallMs += ms;
      await this.#mail.sweep();
      this.#look();
    }
  }

  #look(): void {
    for (const letter of this.#letters) this.#lookAt(letter, this.#row(letter.seq));
    this.#letters = this.#letters.filter(({ seq }) => this.#row(seq).state !== "expired");
  }

  #lookAt(letter: Letter, { state }: Message): void {
    const age = this.#machineMs - letter.sentAtMs;
    const said = `a message of ${age} ms, to live ${letter.ttlMs}, is ${state}`;
    if (state === "expired") {
      check(letter.ttlMs !== null && age >= letter.ttlMs, `expired early: ${said}`);
      this.#tally.mailExpired++;
      return;
    }
    check(letter.ttlMs === null || age < letter.ttlMs + 2 * MAIL_SWEEP_MS, `stuck: ${said}`);
    if (letter.offeredAtMs === null) return;
    const heldMs = this.#monotonicMs - letter.offeredAtMs;
    if (state === "queued") {
      check(heldMs >= OFFER_VISIBLE_MS, `given back early, after ${heldMs} ms`);
      letter.offeredAtMs = null;
      this.#tally.returned++;
    } else check(heldMs < OFFER_VISIBLE_MS + 2 * MAIL_SWEEP_MS, `an offer is stuck for ${heldMs} ms`);
  }

  #row(seq: number): Message {
    const row = messageBySeq(this.#db, seq);
    if (row === null) throw new Error(`message ${seq} is gone`);
    return row;
  }
}
