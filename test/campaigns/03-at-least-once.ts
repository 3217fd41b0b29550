import { join } from "node:path";
import { connectToDaemon, type Client } from "../../src/client/connect.ts";
import { isPerdureError } from "../../src/protocol/errors.ts";
import { campaign, seeded } from "../support/campaign.ts";
import type { Home } from "../support/home.ts";
import { check, eventually, pick, whole, within } from "../support/check.ts";
import { clientClaim, inHome } from "../support/in-home.ts";
import { sendParams } from "../support/send-params.ts";
import { MailboxReader } from "./support/mailbox-reader.ts";
import { StoreRows } from "./support/store-rows.ts";

interface Size {
  messages: number;
  deaths: number;
}

const BOXES = ["b0", "b1"];
const HANG_MS = 30 * 60_000;

export const atLeastOnce = campaign<Size>({
  number: 3,
  promise: "at least once, by id",
  reduced: { messages: 400, deaths: 12 },
  full: { messages: 20_000, deaths: 1_000 },
  run: (size, seed) => inHome((home) => play(home, size, seed)),
});

async function play(home: Home, size: Size, seed: number): Promise<Record<string, number>> {
  const operator = await connectToDaemon({ env: home.env });
  for (const box of BOXES) {
    const { run, generation, token } = await operator.call("claim", clientClaim(home, box, process.pid));
    await operator.call("release", { run, generation, token });
  }
  const readers: MailboxReader[] = BOXES.map((name, at) => {
    const mayDie = (): boolean => readers.reduce((sum, { counts }) => sum + counts.deaths, 0) < size.deaths;
    return new MailboxReader(home, name, { seed: seed + 1_000_003 * (at + 1), deathRate: deathRateOf(size), mayDie });
  });
  const reading = Promise.all(readers.map((reader) => reader.read()));
  const writer = new Writer(home, operator, seeded(seed));
  try {
    const done = writer.send(size.messages).then(async () => {
      await allRead(home);
      await writer.contradictAll();
      return true;
    });
    check(
      await within("all to be read", Promise.race([done, reading.then(() => false)]), HANG_MS),
      "no reader is left",
    );
  } finally {
    for (const reader of readers) reader.end();
    await reading.catch(() => undefined);
    operator.close();
  }
  checkNoneLost(home, readers, writer.sent);
  return figures(readers, writer);
}

/** The death rate with which the consumers that die have done so when about half of everything was read. */
function deathRateOf({ messages, deaths }: Size): number {
  return Math.min(0.2, (2 * deaths) / messages);
}

interface Sent {
  to: string;
  body: string;
}

/** Sends, and says something else under ids that were used: in whatever state the first message is by then. */
class Writer {
  readonly sent = new Map<string, Sent>();
  readonly counts = { conflicts: 0, repeats: 0 };
  readonly #home: Home;
  readonly #client: Client;
  readonly #random: () => number;

  constructor(home: Home, client: Client, random: () => number) {
    this.#home = home;
    this.#client = client;
    this.#random = random;
  }

  async send(count: number): Promise<void> {
    for (let n = 0; n < count; n++) {
      const [id, to] = [`m-${n}`, pick(this.#random, BOXES)];
      const body = `${id} ${"y".repeat(whole(this.#random, 200))}`;
      await this.#client.call("send", sendParams(this.#home, to, body, { id }));
      this.sent.set(id, { to, body });
      if (this.#random() < 0.2) await this.#contradict(`m-${whole(this.#random, n + 1)}`);
      if (this.#random() < 0.1) await this.#repeat(`m-${whole(this.#random, n + 1)}`);
    }
  }

  /** Once more when every one of them was read: the id is still its own. */
  async contradictAll(): Promise<void> {
    for (const id of this.sent.keys()) if (this.#random() < 0.2) await this.#contradict(id);
  }

  async #contradict(id: string): Promise<void> {
    const { to, body } = this.#known(id);
    const other = BOXES.find((box) => box !== to) ?? to;
    const lie = pick(this.#random, [
      sendParams(this.#home, to, `${body}.`, { id }),
      sendParams(this.#home, to, "", { id }),
      sendParams(this.#home, other, body, { id }),
      sendParams(this.#home, to, body, { id, expectsReply: true }),
    ]);
    const code = await this.#client.call("send", lie).then(
      () => "taken",
      (error: unknown) => (isPerdureError(error) ? error.code : String(error)),
    );
    check(code === "conflict", `another message under the id ${id} was answered with: ${code}`);
    this.counts.conflicts++;
  }

  async #repeat(id: string): Promise<void> {
    const { to, body } = this.#known(id);
    const { messages } = await this.#client.call("send", sendParams(this.#home, to, body, { id }));
    check(messages[0]?.again === true, `${id}, word for word, was taken for another message`);
    this.counts.repeats++;
  }

  #known(id: string): Sent {
    const sent = this.sent.get(id);
    if (sent === undefined) throw new Error(`${id} was never sent`);
    return sent;
  }
}

async function allRead(home: Home): Promise<void> {
  const rows = new StoreRows(join(home.state, "perdure.db"));
  try {
    await eventually("every message to be read", () => rows.unread() === 0, HANG_MS);
  } finally {
    rows.close();
  }
}

/** Every message was handed out with its own text, to its own box alone; and is in the store once, as read. */
function checkNoneLost(home: Home, readers: readonly MailboxReader[], sent: ReadonlyMap<string, Sent>): void {
  for (const [id, { to, body }] of sent) {
    for (const { name, seen } of readers) {
      const there = seen.get(id);
      if (name !== to) check(there === undefined, `${id} was sent to ${to} and handed out to ${name}`);
      else check(there?.body === body, `${id} was ${there === undefined ? "lost" : "handed out with another text"}`);
    }
  }
  const rows = new StoreRows(join(home.state, "perdure.db"));
  const kept = rows.messages();
  rows.close();
  check(kept === sent.size, `${sent.size} messages were sent, ${kept} are in the store`);
}

function figures(readers: readonly MailboxReader[], { sent, counts: said }: Writer): Record<string, number> {
  const counted = (what: keyof MailboxReader["counts"]): number =>
    readers.reduce((sum, { counts }) => sum + counts[what], 0);
  check(counted("redelivered") > 0, "nobody died with a message in hand: nothing was proved");
  return {
    messages: sent.size,
    consumersKilled: counted("deaths"),
    handedOut: counted("offered"),
    redelivered: counted("redelivered"),
    sameIdOtherMessageRefused: said.conflicts,
    sameIdSameMessageKnown: said.repeats,
    lost: [...sent].filter(([id, { to }]) => !readers.some(({ name, seen }) => name === to && seen.has(id))).length,
  };
}
