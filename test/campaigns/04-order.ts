import { setTimeout as sleep } from "node:timers/promises";
import { join } from "node:path";
import { connect } from "../../src/library/perdure.ts";
import type { Lease } from "../../src/library/lease.ts";
import { campaign, seeded } from "../support/campaign.ts";
import type { Home } from "../support/home.ts";
import { check, eventually, pick, whole, within } from "../support/check.ts";
import { killDaemons } from "./support/daemons.ts";
import { inHome } from "../support/in-home.ts";
import { askedToWaitMs } from "../support/send-params.ts";
import { MailboxReader } from "./support/mailbox-reader.ts";
import { StoreRows } from "./support/store-rows.ts";

interface Size {
  messagesEach: number;
  daemonKills: number;
  consumerKills: number;
}

const SENDERS = 10;
const BOXES = ["b0", "b1", "b2"];
const HANG_MS = 30 * 60_000;

export const order = campaign<Size>({
  number: 4,
  promise: "order per sender and mailbox",
  reduced: { messagesEach: 80, daemonKills: 5, consumerKills: 6 },
  full: { messagesEach: 10_000, daemonKills: 300, consumerKills: 600 },
  run: (size, seed) => inHome((home) => play(home, size, seed)),
});

async function play(home: Home, size: Size, seed: number): Promise<Record<string, number>> {
  const random = seeded(seed);
  const perdure = await connect({ env: home.env, cwd: home.project });
  for (const box of BOXES) await (await perdure.claim(box)).release();
  const kills = new Kills(home, size, random);
  const readers = BOXES.map((name, at) => {
    const mayDie = (): boolean => kills.consumersLeft();
    return new MailboxReader(home, name, { seed: seed + 1_000_003 * (at + 1), deathRate: 0.01, mayDie });
  });
  kills.readers = readers;
  const reading = Promise.all(readers.map((reader) => reader.read()));
  try {
    const sent = await within("everything to be read", Promise.race([finished(), reading.then(() => null)]), HANG_MS);
    check(sent !== null, "the consumers ended before the senders");
    // Their last lines may still be on the way when the store has nothing unread.
    for (const reader of readers) reader.end();
    await reading;
    checkOrder(readers, sent);
    return figures(readers, sent, kills);
  } finally {
    kills.stop();
    for (const reader of readers) reader.end();
    await reading.catch(() => undefined);
    await perdure.close();
  }

  async function finished(): Promise<Sent[]> {
    const lanes = await Promise.all(Array.from({ length: SENDERS }, (_, at) => perdure.claim(`s${at}`)));
    const killing = kills.go();
    const sent = await Promise.all(
      lanes.map((lease, at) => sendAll(lease, size.messagesEach, seeded(seed + 7_919 * (at + 1)), kills)),
    );
    await killing;
    await allRead(home);
    return sent;
  }
}

/** The messages of one sender to each box, in its order. */
interface Sent {
  from: string;
  to: Map<string, string[]>;
}

async function sendAll(lease: Lease, count: number, random: () => number, kills: Kills): Promise<Sent> {
  const to = new Map<string, string[]>();
  for (let n = 0; n < count; n++) {
    const box = pick(random, BOXES);
    const id = `${lease.address.replace("/", "-")}-${n}`;
    await sendOne(lease, box, id);
    const earlier = to.get(box);
    if (earlier) earlier.push(id);
    else to.set(box, [id]);
    kills.sent();
  }
  return { from: lease.address, to };
}

async function sendOne(lease: Lease, box: string, id: string): Promise<void> {
  for (;;) {
    try {
      await lease.send(box, `the text of ${id}`, { id });
      return;
    } catch (error) {
      const waitMs = askedToWaitMs(error);
      if (waitMs === null) throw error;
      await sleep(waitMs);
    }
  }
}

/** Spread over the whole of the sending, by how much was sent and not by the clock. */
class Kills {
  readers: MailboxReader[] = [];
  daemons = 0;
  readonly #home: Home;
  readonly #size: Size;
  readonly #random: () => number;
  #sent = 0;
  #stopped = false;
  #wake: () => void = () => undefined;

  constructor(home: Home, size: Size, random: () => number) {
    this.#home = home;
    this.#size = size;
    this.#random = random;
  }

  sent(): void {
    this.#sent++;
    this.#wake();
  }

  stop(): void {
    this.#stopped = true;
    this.#wake();
  }

  consumersLeft(): boolean {
    return this.readers.reduce((sum, { counts }) => sum + counts.deaths, 0) < this.#size.consumerKills;
  }

  async go(): Promise<void> {
    const total = SENDERS * this.#size.messagesEach;
    const every = total / this.#size.daemonKills;
    for (let n = 0; n < this.#size.daemonKills; n++) {
      const due = Math.floor((n + this.#random()) * every);
      while (this.#sent < due && !this.#stopped) await new Promise<void>((resolve) => (this.#wake = resolve));
      if (this.#stopped) return;
      await sleep(this.#random() * 4);
      await killDaemons(this.#home);
      this.daemons++;
      if (this.consumersLeft() && this.#random() < 0.5) this.readers[whole(this.#random, this.readers.length)]?.kill();
    }
  }
}

async function allRead(home: Home): Promise<void> {
  const rows = new StoreRows(join(home.state, "perdure.db"));
  try {
    await eventually("everything to be read", () => rows.unread() === 0, HANG_MS);
  } finally {
    rows.close();
  }
}

/** The first time each message was handed out is what an agent acts on. */
function checkOrder(readers: readonly MailboxReader[], sent: readonly Sent[]): void {
  for (const reader of readers) {
    for (const { from, to } of sent) {
      const wanted = to.get(reader.name) ?? [];
      const got = reader.firsts.get(from) ?? [];
      const at = wanted.findIndex((id, n) => got[n] !== id);
      check(at < 0, () => `${from} to ${reader.name}: after ${got[at - 1]} came ${got[at]}, not ${wanted[at]}`);
      check(got.length === wanted.length, `${from} to ${reader.name}: ${got.length} handed out of ${wanted.length}`);
    }
  }
}

/** Neighbours that came the other way round. */
function inversionsIn({ name, firsts }: MailboxReader, sent: readonly Sent[]): number {
  const places = sent.map(({ from, to }) => {
    const rank = new Map((to.get(name) ?? []).map((id, at) => [id, at]));
    return (firsts.get(from) ?? []).map((id) => rank.get(id) ?? -1);
  });
  return places.flatMap((ranks) => ranks.filter((rank, at) => at > 0 && rank < (ranks[at - 1] ?? 0))).length;
}

function figures(readers: readonly MailboxReader[], sent: readonly Sent[], kills: Kills): Record<string, number> {
  const counted = (what: keyof MailboxReader["counts"]): number =>
    readers.reduce((sum, { counts }) => sum + counts[what], 0);
  return {
    senders: sent.length,
    messages: sent.reduce((sum, { to }) => sum + [...to.values()].flat().length, 0),
    handedOut: counted("offered"),
    redelivered: counted("redelivered"),
    daemonKills: kills.daemons,
    consumerKills: counted("deaths"),
    inversions: readers.reduce((sum, reader) => sum + inversionsIn(reader, sent), 0),
  };
}
