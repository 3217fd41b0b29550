import { setTimeout as sleep } from "node:timers/promises";
import { connectToDaemon } from "../../src/client/connect.ts";
import { LONG_WAIT_MS, OFFERS_PER_CALL } from "../../src/limits/index.ts";
import type { MessageRecord } from "../../src/protocol/records/mail.ts";
import { campaign, seeded } from "../support/campaign.ts";
import type { Home } from "../support/home.ts";
import { Sender } from "./01-sender.ts";
import { check, eventually, percentile, whole, within } from "../support/check.ts";
import { daemonsOf, killDaemons } from "./support/daemons.ts";
import { StartFloor } from "./support/start-floor.ts";
import { clientClaim, inHome } from "../support/in-home.ts";
import { isUnavailable, projectRefOf } from "../support/send-params.ts";

interface Size {
  kills: number;
  messages: number;
}

const SENDERS = ["s0", "s1", "s2", "s3"];
const BOXES = ["b0", "b1", "b2"];
/** The share of daemons that are killed once more while they start. */
const KILLED_AT_START = 0.1;
const START_MS = 120;
/** The daemon itself looks quickly after each crash; so often every page and index is looked at, too. */
const ROUNDS_PER_WHOLE_CHECK = 20;
/** A killed daemon is found dead, another one started, its log read back: four starts of Node one after another, beside the senders. */
const SERVING_FLOORS_MAX = 20;

export const ackedIsKept = campaign<Size>({
  number: 1,
  promise: "an acked send is never lost when the daemon dies",
  reduced: { kills: 10, messages: 1_200 },
  full: { kills: 1_000, messages: 100_000 },
  run: (size, seed) => inHome((home) => play(home, size, seed)),
});

async function play(home: Home, size: Size, seed: number): Promise<Record<string, number>> {
  const random = seeded(seed);
  for (const box of BOXES) await bornAndGone(home, box);
  const senders = SENDERS.map((name, at) => new Sender(home, name, BOXES, seeded(seed + 1_000_003 * (at + 1))));
  const tally = { killsAtStart: 0, storeChecksOk: 0, wholeChecksOk: 0 };
  const servingMs: number[] = [];
  const floor = new StartFloor();
  try {
    for (const sender of senders) await sender.claim();
    for (let round = 0; round < size.kills; round++) {
      const share = shareOf(round, size.messages / senders.length, size.kills);
      await playRound({ home, senders, random, tally, servingMs, floor }, share);
      if ((round + 1) % ROUNDS_PER_WHOLE_CHECK === 0 || round === size.kills - 1) await checkWhole(home, tally);
    }
  } finally {
    for (const sender of senders) sender.close();
  }
  const read = await readAll(home);
  checkAllThere(senders, read);
  const acked = senders.flatMap(({ sent }) => sent.map(({ id }) => id));
  const found = new Set(read.map(({ id }) => id));
  floor.judge("serving again (p99)", servingMs, 0.99, SERVING_FLOORS_MAX);
  const counted = (what: keyof Sender["counts"]): number => senders.reduce((sum, each) => sum + each.counts[what], 0);
  return {
    kills: servingMs.length,
    ...tally,
    ackedMessages: acked.length,
    messagesFound: read.length,
    sendsUnanswered: counted("unanswered"),
    keptThoughUnanswered: counted("keptUnanswered"),
    repeatsRecognised: counted("repeated"),
    ackedMissing: acked.filter((id) => !found.has(id)).length,
    servingAgainMsMedian: percentile(servingMs, 0.5),
    servingAgainMsP99: percentile(servingMs, 0.99),
    emptyNodeMsMedian: floor.medianMs,
  };
}

/** The share of each sender in one round, so that all rounds together are everything. */
function shareOf(round: number, each: number, rounds: number): number {
  return Math.floor(((round + 1) * each) / rounds) - Math.floor((round * each) / rounds);
}

interface Context {
  home: Home;
  senders: readonly Sender[];
  random: () => number;
  tally: { killsAtStart: number; storeChecksOk: number };
  servingMs: number[];
  floor: StartFloor;
}

/** All senders are at it when the daemon dies; they finish their share with the next one. */
async function playRound(context: Context, share: number): Promise<void> {
  const { home, senders, random } = context;
  const killAt = whole(random, share * senders.length);
  const { promise: due, resolve } = Promise.withResolvers<void>();
  let acked = 0;
  if (killAt === 0) resolve();
  const sending = Promise.all(
    senders.map((sender) =>
      sender.send(share, () => {
        if (++acked === killAt) resolve();
      }),
    ),
  );
  const killing = due.then(async () => {
    // Anywhere in a commit, not only right after one.
    if (random() < 0.7) await sleep(random() * 4);
    let killedAtMs = performance.now();
    await killDaemons(home);
    if (random() < KILLED_AT_START) killedAtMs = await killAtStart(context);
    context.servingMs.push(await servingAgain(home, killedAtMs));
    await context.floor.sample();
    context.tally.storeChecksOk++;
  });
  await within(`a round of ${share * senders.length} messages`, Promise.all([sending, killing]), 120_000);
}

/** The senders start the next one by themselves; somewhere on its way it is killed, too. */
async function killAtStart({ home, random, tally }: Context): Promise<number> {
  await eventually("a daemon to start", async () => {
    if (daemonsOf(home).length > 0) return true;
    (await connectToDaemon({ env: home.env })).close(); // they were all done already
    return false;
  });
  await sleep(whole(random, START_MS));
  const killedAtMs = performance.now();
  await killDaemons(home);
  tally.killsAtStart++;
  return killedAtMs;
}

/** How long after the kill the next daemon answered; then what it says of its store. */
async function servingAgain(home: Home, killedAtMs: number): Promise<number> {
  let tookMs: number | null = null;
  let found = "pending";
  await eventually("the daemon's own check of the store", async () => {
    const client = await connectToDaemon({ env: home.env }).catch((error: unknown) => {
      if (isUnavailable(error)) return null;
      throw error;
    });
    if (client === null) return false;
    const { store } = await client.call("status", {}).finally(() => client.close());
    tookMs ??= performance.now() - killedAtMs;
    found = store.check;
    return found !== "pending";
  });
  check(found === "ok", `after a kill the daemon says of its store: ${found}`);
  return tookMs ?? 0;
}

async function checkWhole(home: Home, tally: { wholeChecksOk: number }): Promise<void> {
  const client = await connectToDaemon({ env: home.env });
  const { ok, problems } = await client.call("checkStore", {}, LONG_WAIT_MS).finally(() => client.close());
  check(ok, () => `integrity_check: ${problems.join("; ")}`);
  tally.wholeChecksOk++;
}

/** A box nobody has open. */
async function bornAndGone(home: Home, name: string): Promise<void> {
  const client = await connectToDaemon({ env: home.env });
  const { run, generation, token } = await client.call("claim", clientClaim(home, name, process.pid));
  await client.call("release", { run, generation, token });
  client.close();
}

/** Everything in every box, taken and acknowledged as its owner does, in the order it is handed out. */
async function readAll(home: Home): Promise<MessageRecord[]> {
  const client = await connectToDaemon({ env: home.env });
  const read: MessageRecord[] = [];
  for (const box of BOXES) {
    const { run, generation, token } = await client.call("claim", clientClaim(home, box, process.pid));
    const as = { run, generation, token };
    for (;;) {
      const place = { here: projectRefOf(home), project: null };
      const { messages } = await client.call("takeMail", {
        as,
        nested: false,
        ...place,
        max: OFFERS_PER_CALL,
        waitMs: 0,
      });
      if (messages.length === 0) break;
      read.push(...messages);
      const { missed } = await client.call("ack", {
        as,
        nested: false,
        ids: messages.map(({ id }) => id),
        how: "read",
      });
      check(missed.length === 0, () => `offered and not to be acknowledged: ${missed.join(" ")}`);
    }
    await client.call("release", as);
  }
  client.close();
  return read;
}

/** Each exactly once, as it was sent, in its sender's order; and nothing that nobody was told of. */
function checkAllThere(senders: readonly Sender[], read: readonly MessageRecord[]): void {
  const expected = BOXES.flatMap((box) =>
    senders.map(({ name, sent }) => ({ box, name, sent: sent.filter(({ to }) => to === box) })),
  );
  for (const { box, name, sent } of expected) {
    const found = read.filter(({ from, to }) => from === `api/${name}` && to === `api/${box}`);
    const at = sent.findIndex(({ id, body, seq }, n) => {
      const there = found[n];
      return there?.id !== id || there.body !== body || there.seq !== seq;
    });
    check(at < 0, () => `${name} to ${box}: ${sent[at]?.id} was acked, there is ${found[at]?.id ?? "nothing"}`);
    check(found.length === sent.length, `${name} to ${box}: ${sent.length} acked, ${found.length} there`);
  }
  const total = senders.reduce((sum, { sent }) => sum + sent.length, 0);
  check(read.length === total, `${read.length} messages of ${total}`);
}
