import { createServer } from "node:net";
import { once } from "node:events";
import { linkSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connectToDaemon } from "../../src/client/connect.ts";
import { campaign, seeded } from "../support/campaign.ts";
import type { Home } from "../support/home.ts";
import { raceForLock } from "./20-lock-race.ts";
import { check, eventually, percentile, pick, within } from "../support/check.ts";
import { daemonsOf, killDaemons } from "./support/daemons.ts";
import { StartFloor } from "./support/start-floor.ts";
import { inHome } from "../support/in-home.ts";

interface Size {
  lockRaces: number;
  rounds: number;
  starts: number;
}

const LEFTOVERS = [
  "nothing",
  "garbage lock",
  "empty lock",
  "socket file",
  "socket",
  "daemon.json",
  "killed",
  "all of it",
] as const;

/** The longest start over leftovers, in the longest start of an empty Node beside it. */
const STALE_START_FLOORS_MAX = 20;

export const oneDaemon = campaign<Size>({
  number: 20,
  promise: "one daemon per state dir",
  reduced: { lockRaces: 300, rounds: 5, starts: 8 },
  full: { lockRaces: 10_000, rounds: 200, starts: 50 },
  run: (size, seed) => inHome((home) => play(home, size, seed)),
});

async function play(home: Home, size: Size, seed: number): Promise<Record<string, number>> {
  const random = seeded(seed);
  mkdirSync(home.state, { recursive: true, mode: 0o700 });
  const races = await raceForLock(join(home.dir, "race.lock"), size.lockRaces, random);
  const staleMs: number[] = [];
  const cleanMs: number[] = [];
  const floor = new StartFloor();
  for (let round = 0; round < size.rounds; round++) {
    cleanMs.push(await timedStart(home));
    await killDaemons(home);
    const leftover = LEFTOVERS[round % LEFTOVERS.length] ?? pick(random, LEFTOVERS);
    await plant(home, leftover, random);
    staleMs.push(await timedStart(home));
    await floor.sample();
    if (random() < 0.5) await home.perdure(["daemon", "stop"]);
    else await killDaemons(home);
    await plant(home, leftover, random);
    await storm(home, size.starts, `round ${round}, ${leftover}`);
    await home.perdure(["daemon", "stop"]);
  }
  floor.judge("serving again over leftovers (longest)", staleMs, 1, STALE_START_FLOORS_MAX);
  return {
    ...races,
    rounds: size.rounds,
    starts: size.rounds * size.starts,
    servingTwice: 0,
    cleanStartMsMedian: percentile(cleanMs, 0.5),
    staleStartMsMedian: percentile(staleMs, 0.5),
    staleStartMsMax: percentile(staleMs, 1),
    emptyNodeMsMedian: floor.medianMs,
  };
}

/** One client alone, from its first look at the folder to the daemon's first answer. Monotonic. */
async function timedStart(home: Home): Promise<number> {
  const startedAt = performance.now();
  const client = await connectToDaemon({ env: home.env });
  await client.call("status", {});
  const took = performance.now() - startedAt;
  client.close();
  return took;
}

/** All at once; every caller must be served, and all by the same process. */
async function storm(home: Home, starts: number, what: string): Promise<void> {
  const answers = await within(
    `${starts} starts (${what})`,
    Promise.all(
      Array.from({ length: starts }, () => home.json<{ pid?: number; error?: unknown }>(["daemon", "start"])),
    ),
    120_000,
  );
  const failed = answers.find(({ pid }) => pid === undefined);
  check(failed === undefined, () => `${what}: a start failed: ${JSON.stringify(failed)}`);
  const pids = new Set(answers.map(({ pid }) => pid));
  check(pids.size === 1, () => `${what}: served by ${[...pids].join(" and ")}`);
  const [pid = 0] = pids;
  // Those that came too late have said so and are on their way out; what stays is what serves.
  await eventually(`one daemon to be left (${what}; ${daemonsOf(home).join(" ")})`, () => daemonsOf(home).length <= 1);
  check(daemonsOf(home)[0] === pid, () => `${what}: ${pid} answered, ${daemonsOf(home).join(" ")} lives`);
  for (let client = 0; client < 3; client++) {
    const status = await home.json<{ pid: number }>(["daemon", "status"]);
    check(status.pid === pid, `${what}: status says ${status.pid}, not ${pid}`);
  }
  check(home.daemonPid() === pid, `${what}: daemon.json says ${home.daemonPid()}, not ${pid}`);
}

async function plant(home: Home, leftover: (typeof LEFTOVERS)[number], random: () => number): Promise<void> {
  const all = leftover === "all of it";
  const lock = join(home.state, "daemon.lock");
  const socket = join(home.state, "perdure.sock");
  if (all || leftover === "garbage lock")
    writeFileSync(lock, `${process.pid}\n${"x".repeat(Math.floor(random() * 8_000))}`, { mode: 0o600 });
  if (leftover === "empty lock") writeFileSync(lock, "", { mode: 0o600 });
  if (leftover === "socket file") rmSync(socket, { force: true });
  if (leftover === "socket file") writeFileSync(socket, "not a socket", { mode: 0o600 });
  if (all || leftover === "socket") await leaveSocket(socket);
  if (all || leftover === "daemon.json") {
    const dead = { pid: 4_000_000, processStarted: "1", socket, version: "0.0.1", protocol: 0 };
    writeFileSync(join(home.state, "daemon.json"), JSON.stringify(dead), { mode: 0o600 });
  }
}

/** A socket that nobody listens to any more. Node removes its own on close, so it is moved aside meanwhile. */
async function leaveSocket(path: string): Promise<void> {
  rmSync(path, { force: true });
  const server = createServer().listen(path);
  await once(server, "listening");
  const kept = `${path}.kept`;
  linkSync(path, kept);
  server.close();
  await once(server, "close");
  renameSync(kept, path);
}
