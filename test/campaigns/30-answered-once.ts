import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { MailStep, MessageRecord } from "../../src/protocol/records/mail.ts";
import type { RunRecord } from "../../src/protocol/records/run.ts";
import { processTable } from "../../src/runtime/process/index.ts";
import { isErrno } from "../../src/state/files.ts";
import { campaign, seeded } from "../support/campaign.ts";
import { check, eventually, pick, whole } from "../support/check.ts";
import { BIN } from "../support/home.ts";
import { sendParams, projectRefOf } from "../support/send-params.ts";
import { TurnHome } from "../support/turn-home.ts";
import { LastingClient } from "./support/lasting-client.ts";

interface Size {
  workers: number;
  asks: number;
  kills: number;
  atOnce: number;
  /** Asks in each of two rounds without any kill, between which the daemon's memory is compared. */
  calm: number;
}

/** The victims, each killed while a turn is anywhere between its claim and its end. */
const VICTIMS = ["agent", "daemon", "both"] as const;
const UNDER_WAY_MS = 400;
/** The longest time without any ask being settled. */
const STALLED_MS = 120_000;
/** The memory that a daemon may have more after the second round than after the first, which has filled its caches. */
const RSS_GROWTH_BYTES_MAX = 16 * 1024 * 1024;
const SETTLED = new Set(["answered", "dead"]);

interface Shown {
  message: MessageRecord;
  steps: MailStep[];
  reply: MessageRecord | null;
}

export const answeredOnce = campaign<Size>({
  number: 30,
  promise: "a turn is answered once",
  reduced: { workers: 6, asks: 24, kills: 6, atOnce: 3, calm: 12 },
  full: { workers: 200, asks: 2_000, kills: 300, atOnce: 4, calm: 200 },
  async run(size, seed) {
    const figures = await new Play(size, seeded(seed)).all();
    return { ...figures, chainOfTwo: await playChain() };
  },
});

class Play {
  readonly #size: Size;
  readonly #random: () => number;
  readonly #home: TurnHome;
  readonly #client: LastingClient;
  readonly #asked = new Map<string, string>();

  constructor(size: Size, random: () => number) {
    this.#size = size;
    this.#random = random;
    const hourly = "per_hour = 6000\nproject_per_hour = 6000";
    this.#home = new TurnHome(`[workers.w]\ncount = ${size.workers}\n[turns]\nat_once = ${size.atOnce}\n${hourly}\n`);
    this.#client = new LastingClient(this.#home);
  }

  async all(): Promise<Record<string, number>> {
    try {
      await this.#home.up();
      const kills = await this.#askUnderFire();
      await this.#untilSettled();
      const rssGrownMiB = await this.#checkMemory();
      const told = await this.#checkAsks();
      const mostAtOnce = await this.#checkRuns();
      return { workers: this.#size.workers, asks: this.#size.asks, ...kills, ...told, mostAtOnce, rssGrownMiB };
    } finally {
      this.#client.close();
      await this.#home.clear();
    }
  }

  /** Returns by how many MiB a daemon that nobody kills has grown over a round of turns. */
  async #checkMemory(): Promise<number> {
    const { calm, workers } = this.#size;
    const sizes: number[] = [];
    for (const round of [1, 2]) {
      for (let n = 0; n < calm; n++) {
        const id = `c30-calm-${round}-${n}`;
        await this.#ask(`w-${1 + (n % workers)}`, `[[say the answer to ${id}]]`, id);
      }
      await this.#untilSettled();
      sizes.push((await this.#client.ask((client) => client.call("status", {}))).rssBytes);
    }
    const [before = 0, after = 0] = sizes;
    check(after - before < RSS_GROWTH_BYTES_MAX, `the daemon grew from ${before} to ${after} bytes in ${calm} turns`);
    return Math.round((after - before) / 1024 / 1024);
  }

  async #ask(to: string, body: string, id: string): Promise<void> {
    await this.#client.ask((client) =>
      client.call("send", sendParams(this.#home, to, body, { id, expectsReply: true })),
    );
    this.#asked.set(id, to);
  }

  async #askUnderFire(): Promise<Record<string, number>> {
    const { asks, kills, workers } = this.#size;
    const done = { agentKills: 0, daemonKills: 0 };
    const perKill = Math.max(1, Math.floor(asks / kills));
    for (let n = 0; n < asks; n++) {
      const to = `w-${1 + whole(this.#random, workers)}`;
      const id = `c30-${n}`;
      const body = `[[sleep ${whole(this.#random, 150)}]] [[say the answer to ${id}]]`;
      await this.#ask(to, body, id);
      if (n % perKill !== perKill - 1) continue;
      await sleep(whole(this.#random, UNDER_WAY_MS));
      const victim = pick(this.#random, VICTIMS);
      if (victim !== "daemon") done.agentKills += this.#killAgent();
      if (victim !== "agent") done.daemonKills += kill(this.#home.daemonPid());
    }
    return done;
  }

  /** Kills all processes of one of the turns that go on, whatever there is of it at that moment. */
  #killAgent(): number {
    const table = processTable();
    const own = table
      .withVariable("HOME", this.#home.dir)
      .filter(({ pid }) => table.variable(pid, "PERDURE_RUN") !== undefined);
    const runs = [...new Set(own.map(({ pid }) => table.variable(pid, "PERDURE_RUN") ?? ""))].filter(Boolean);
    if (runs.length === 0) return 0;
    const run = pick(this.#random, runs);
    for (const { pid } of own) if (table.variable(pid, "PERDURE_RUN") === run) kill(pid);
    return 1;
  }

  /** Waits for as long as there are fewer and fewer without an end. */
  async #untilSettled(): Promise<void> {
    for (let left = await this.#open(), before = left; left > 0; before = left) {
      const isLess = async (): Promise<boolean> => (await this.#open()) < before;
      await eventually(`fewer than ${before} asks without an end`, isLess, STALLED_MS);
      left = await this.#open();
    }
  }

  async #open(): Promise<number> {
    const list = { here: projectRefOf(this.#home), project: null, states: ["queued", "offered", "injected"] as const };
    const { items } = await this.#client.ask((client) =>
      client.collect("listMail", { ...list, states: [...list.states], before: null, limit: 5_000 }),
    );
    return items.filter(({ id }) => this.#asked.has(id)).length;
  }

  /** Checks every ask: answered once and told once, or dead with the reason, and never told again after it had begun. */
  async #checkAsks(): Promise<Record<string, number>> {
    const figures = { answered: 0, dead: 0, again: 0 };
    const told = new Map<string, string>();
    for (const name of new Set(this.#asked.values())) told.set(name, await this.#toldTo(name));
    for (const [id, name] of this.#asked) {
      const { message, steps, reply } = await this.#show(id);
      const about = (): string => `${id} to ${name}: ${JSON.stringify(steps)}`;
      check(SETTLED.has(message.state), about);
      const times = (told.get(name) ?? "").split(`Message ${id} from `).length - 1;
      check(times <= 1, () => `told ${times} times: ${about()}`);
      const answers = steps.filter(({ state }) => state === "answered").length;
      if (message.state === "answered") {
        check(answers === 1 && times === 1 && reply?.body === `the answer to ${id}`, about);
        figures.answered++;
      } else {
        check(answers === 0 && reply === null && (steps.at(-1)?.reason ?? "") !== "", about);
        figures.dead++;
      }
      if (steps.filter(({ state }) => state === "offered").length > 1) figures.again++;
    }
    return figures;
  }

  #show(id: string): Promise<Shown> {
    return this.#client.ask((client) => client.call("showMail", { as: null, nested: false, id }));
  }

  async #toldTo(name: string): Promise<string> {
    const { sessions } = await this.#home.history(name);
    check(sessions.length <= 1 || sessions.every(({ id }) => id !== ""), `${name} without a conversation`);
    const texts = sessions.map(({ transcript }) => (transcript === null ? "" : readFileSync(transcript.file, "utf8")));
    // The built-in agent repeats what it was told: only what a user said counts.
    return texts.flatMap((text) => text.split("\n").filter((line) => line.startsWith('{"type":"user"'))).join("\n");
  }

  /** Checks that there were never more turns at once than allowed, and never two of one worker. */
  async #checkRuns(): Promise<number> {
    const moments: [atMs: number, change: 1 | -1][] = [];
    for (const name of new Set(this.#asked.values())) {
      const { runs } = await this.#home.history(name);
      const spans = runs.map(
        ({ startedAt, endedAt }: RunRecord) => [Date.parse(startedAt), Date.parse(endedAt ?? "")] as const,
      );
      for (const [from, to] of spans) moments.push([from, 1], [to, -1]);
      const inOrder = spans.toSorted((a, b) => a[0] - b[0]);
      for (const [at, [from]] of inOrder.entries())
        check(from >= (inOrder[at - 1]?.[1] ?? 0), `two turns of ${name} at once`);
    }
    let now = 0;
    let most = 0;
    for (const [, change] of moments.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]))
      most = Math.max(most, (now += change));
    check(most <= this.#size.atOnce, `${most} turns at once; ${this.#size.atOnce} are allowed`);
    return most;
  }
}

/** Has two workers write to each other for as long as they are let; returns after how many turns they stopped. */
async function playChain(): Promise<number> {
  const home = new TurnHome("[workers.ping]\n[workers.pong]\n");
  try {
    await home.up();
    await home.perdure(["send", "ping", `begin [[pass pong ${BIN}]]`]);
    let reason: string | null = null;
    await eventually("the chain to stop", async () => {
      reason = (await home.workers()).find(({ state }) => state === "on-hold")?.attention ?? null;
      return reason !== null;
    });
    check(reason !== null && String(reason).includes("in a row"), `on hold without its reason: ${reason}`);
    const runs = await Promise.all(["ping", "pong"].map(async (name) => (await home.history(name)).runs.length));
    return runs.reduce((sum, count) => sum + count, 0);
  } finally {
    await home.clear();
  }
}

/** One that has ended by itself meanwhile is dead, too. */
function kill(pid: number | null): number {
  try {
    if (pid !== null) process.kill(pid, "SIGKILL");
    return pid === null ? 0 : 1;
  } catch (error) {
    if (!isErrno(error, "ESRCH")) throw error;
    return 0;
  }
}
