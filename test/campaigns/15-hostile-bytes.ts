import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { connectToDaemon, type Client } from "../../src/client/connect.ts";
import { Db } from "../../src/store/db.ts";
import { campaign } from "../support/campaign.ts";
import { finish, type Home } from "../support/home.ts";
import { check, percentile, within } from "../support/check.ts";
import type { FuzzFigures } from "./support/fuzzer-process.ts";
import { inHome, targetIn } from "../support/in-home.ts";
import { sendParams } from "../support/send-params.ts";
import { StartFloor } from "./support/start-floor.ts";
import { checkIntegrity, checkKept, keptMail } from "./support/store-checks.ts";

interface Size {
  frames: number;
  slow: number;
  /** Before the daemon's memory is looked at for the first time. */
  warmUpCalls: number;
  /** Starts of an empty Node, beside the same attack, that an answer to a healthy client may take. */
  floorsMax: number;
}

const FUZZER = resolve(import.meta.dirname, "support/fuzzer-process.ts");
const SLOW_PEERS = resolve(import.meta.dirname, "support/slow-peers-process.ts");
const MEBIBYTE = 1024 * 1024;
/** The room for what attackers send, and three times the 8 MiB that young objects may have while there is much to do. */
const RSS_GROWTH_BYTES_MAX = (50 + 3 * 8) * MEBIBYTE;
const FLOOR_EVERY_MS = 250;
/** The interval of the healthy client: as often as a fleet of hundreds would call. */
const HEALTHY_EVERY_MS = 4;

export const hostileBytes = campaign<Size>({
  number: 15,
  promise: "hostile bytes",
  // Of a few calls, with other tests beside them, the 99th percentile is the one that had the worst luck.
  reduced: { frames: 15_000, slow: 100, warmUpCalls: 100, floorsMax: 15 },
  full: { frames: 1_000_000, slow: 500, warmUpCalls: 1_000, floorsMax: 1 },
  run: (size, seed) => inHome((home) => play(home, size, seed)),
});

async function play(home: Home, size: Size, seed: number): Promise<Record<string, number>> {
  await home.perdure(["run", "coder", "--", "true"]);
  const healthy = new Healthy(home, await connectToDaemon({ env: home.env }));
  for (let call = 0; call < size.warmUpCalls; call++) await healthy.callOnce();
  const quietP99 = percentile(healthy.tookMs, 0.99);
  const { pid, rssBytes } = await healthy.client.call("status", {});
  const before = { tables: quietTables(home), files: filesOf(home) };
  const socket = join(home.state, "perdure.sock");
  const floor = new StartFloor();
  healthy.begin();
  const slow = await slowPeers(socket, size.slow, seed);
  try {
    const attack = finish(spawn(process.execPath, [FUZZER, socket, String(size.frames), String(seed)]));
    const [{ code, stdout, stderr }] = await Promise.all([healthy.callUntil(attack), sampleUntil(attack, floor)]);
    check(code === 0, `the attack ended with ${code}: ${stderr}`);
    const figures = JSON.parse(stdout) as FuzzFigures;
    check(figures.frames >= size.frames, `only ${figures.frames} frames were sent`);
    const { connections, pid: now } = await healthy.client.call("status", {});
    check(now === pid, `the daemon is another one now: ${now}, not ${pid}`);
    const grown = healthy.rssBytesMax - rssBytes;
    check(grown < RSS_GROWTH_BYTES_MAX, `the daemon grew by ${Math.round(grown / MEBIBYTE)} MiB`);
    floor.judge("a healthy client's call (p99)", healthy.tookMs, 0.99, size.floorsMax);
    return {
      ...figures,
      ...checkUntouched(home, healthy, before),
      slowConnections: size.slow,
      connectionsAtTheEnd: connections,
      rssGrownMiB: Math.round(grown / MEBIBYTE),
      healthyCalls: healthy.tookMs.length,
      healthyMsMedian: percentile(healthy.tookMs, 0.5),
      healthyMsP99: percentile(healthy.tookMs, 0.99),
      healthyMsP99Before: quietP99,
      healthyMsMax: percentile(healthy.tookMs, 1),
      emptyNodeMsMedian: floor.medianMs,
    };
  } finally {
    slow.kill("SIGKILL");
    healthy.client.close();
  }
}

async function sampleUntil(over: Promise<unknown>, floor: StartFloor): Promise<void> {
  const ended = over.then(() => true);
  do await floor.sample();
  while (!(await Promise.race([ended, setTimeout(FLOOR_EVERY_MS, false)])));
}

async function slowPeers(socket: string, count: number, seed: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, [SLOW_PEERS, socket, String(count), String(seed)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ready = once(createInterface({ input: child.stdout }), "line");
  await within(`${count} slow connections`, ready);
  return child;
}

/** Somebody who goes on working all the while: looks, and sends mail that has to arrive. */
class Healthy {
  readonly client: Client;
  readonly acked = new Map<string, string>();
  tookMs: number[] = [];
  rssBytesMax = 0;
  readonly #home: Home;
  #calls = 0;

  constructor(home: Home, client: Client) {
    this.#home = home;
    this.client = client;
  }

  /** Starts the measurement; all calls before were for warming up. */
  begin(): void {
    this.tookMs = [];
    this.rssBytesMax = 0;
  }

  async callUntil<T>(over: Promise<T>): Promise<T> {
    const ended = over.then(() => true);
    const pause = (): Promise<boolean> => setTimeout(HEALTHY_EVERY_MS, false);
    while (!(await Promise.race([ended, pause()]))) await this.callOnce();
    return over;
  }

  async callOnce(): Promise<void> {
    const startedAt = performance.now();
    await within("an answer to a healthy client", this.#call(this.#calls++));
    this.tookMs.push(performance.now() - startedAt);
  }

  async #call(number: number): Promise<void> {
    const { here } = targetIn(this.#home, "coder");
    if (number % 4 === 0) {
      const { rssBytes } = await this.client.call("status", {});
      this.rssBytesMax = Math.max(this.rssBytesMax, rssBytes);
    } else if (number % 4 === 1) {
      const [id, body] = [`healthy-${number}`, `body ${number}`];
      await this.client.call("send", sendParams(this.#home, "coder", body, { id }));
      this.acked.set(id, body);
    } else if (number % 4 === 2) {
      await this.client.collect("ls", { here, project: null, all: true });
    } else {
      await this.client.call("show", { target: targetIn(this.#home, "coder") });
    }
  }
}

/** The store is whole, holds the healthy client's mail and nothing else, and no file has come or gone. */
function checkUntouched(
  home: Home,
  healthy: Healthy,
  before: { tables: string[]; files: string },
): Record<string, number> {
  checkIntegrity(home.state, "after the attack");
  checkKept(home.state, healthy.acked, "after the attack");
  const kept = keptMail(home.state);
  check(kept.size === healthy.acked.size, `${kept.size - healthy.acked.size} messages came out of garbage`);
  const tables = quietTables(home);
  const changed = tables.filter((row) => !before.tables.includes(row));
  check(changed.length === 0, () => `garbage changed the store: ${changed.join("\n")}`);
  check(tables.length === before.tables.length, `${before.tables.length - tables.length} rows are gone`);
  check(filesOf(home) === before.files, () => `garbage changed the files: ${before.files} are now ${filesOf(home)}`);
  return { rowsChangedByGarbage: changed.length, mailFromGarbage: kept.size - healthy.acked.size };
}

/** Every row that the healthy client does not change: all but mail, its count, and the events that tell of it. */
function quietTables(home: Home): string[] {
  const db = new Db(join(home.state, "perdure.db"), { readOnly: true });
  try {
    const names = db.all<{ name: string }>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'",
    );
    const quiet = names.filter(({ name }) => !["messages", "mailboxes"].includes(name));
    return quiet.flatMap(({ name }) => {
      const but = name === "events" ? " WHERE type <> 'mail.queued'" : "";
      return db.all<object>(`SELECT * FROM ${name}${but}`).map((row) => `${name} ${JSON.stringify(row)}`);
    });
  } finally {
    db.close();
  }
}

function filesOf(home: Home): string {
  const all = readdirSync(home.dir, { recursive: true, encoding: "utf8" }).toSorted();
  return all.filter((name) => !name.endsWith("-wal") && !name.endsWith("-shm")).join(" ");
}
