import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { IDLE_MEMORY_CHECK_MS } from "../../src/limits/index.ts";
import type { Home } from "../support/home.ts";
import { join } from "node:path";
import { HEAP_FLAGS } from "../../src/client/autostart.ts";
import { DIST } from "../../src/state/paths.ts";
import { bareProgram } from "./floors/programs.ts";
import { withLeast, type Row } from "./report.ts";
import { spreadOfFew } from "./sampling.ts";

const WORKERS = 10;
const BARE_NODES = 3;

/** 5 MB of the 42 that a Node with nothing to do has. */
export const PER_WORKER_GOAL = 0.12;

/** Resident kilobytes of a Node that does nothing, several times: the floor of every figure of memory. */
export async function bareNodes(env: Record<string, string>): Promise<number[]> {
  const sizes: number[] = [];
  for (let n = 0; n < BARE_NODES; n++) {
    const bare = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000); console.log()"], {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(bare.stdout, "data");
    sizes.push(memory(`/proc/${bare.pid}/status`, "VmRSS"));
    bare.kill("SIGKILL");
  }
  return sizes;
}

/** Compares an amount of memory with a Node that does nothing. */
export function memoryRow(what: string, kilobytes: number, bare: number[], goal: number): Row {
  const floor = Math.min(...bare);
  return {
    what,
    ours: mb(kilobytes),
    floor: `${mb(floor)} bare Node`,
    value: kilobytes / floor,
    goal,
    spread: spreadOfFew(bare),
  };
}

/** The daemon with nothing to do, once the garbage of its start is collected. */
export async function idleDaemon(home: Home): Promise<Row[]> {
  await home.perdure(["daemon", "start"]);
  await sleep(3 * IDLE_MEMORY_CHECK_MS);
  const ours = memory(`/proc/${home.daemonPid()}/status`, "VmRSS");
  const row = memoryRow("the daemon with nothing to do, RSS", ours, await bareNodes(home.env), 1.25);
  return [...withLeastDaemon(row, await bareDaemon(home, 0))];
}

/** Kilobytes of the least that a daemon is, with its code, its flags, a store, a socket and so many clients that have asked for something. */
export async function bareDaemon(home: Home, clients: number): Promise<number> {
  const socket = join(home.dir, `bare-${clients}.sock`);
  const args = [socket, join(home.dir, `bare-${clients}.db`), join(DIST, "perdured.cjs")];
  const bare = await bareProgram("bare-daemon.cjs", args, HEAP_FLAGS);
  for (let client = 0; client < clients; client++) {
    const connection = connect(socket);
    connection.write(JSON.stringify({ client }));
    await once(connection, "data");
  }
  await sleep(3 * IDLE_MEMORY_CHECK_MS);
  const resident = memory(`/proc/${bare.pid}/status`, "VmRSS");
  bare.kill("SIGKILL");
  return resident;
}

/** Puts the figure of the least daemon below one of ours. */
export function withLeastDaemon(row: Row, kilobytes: number): Row[] {
  const floor = Number.parseFloat(row.floor) * 1000;
  const what = "a store, a socket, the code of ours unread and its clients";
  return withLeast([row], { what, ours: mb(kilobytes), value: kilobytes / floor });
}

/** All that stays beside a running program: its wrapper, as the kernel shares it out (PSS). */
export async function perWorker(home: Home): Promise<Row[]> {
  const names = Array.from({ length: WORKERS }, (_, index) => `worker-${index + 1}`);
  const started = [];
  for (const name of names) started.push(await home.start(name, ["sleep", "600"]));
  const ours = started
    .flatMap(({ worker }) => home.processesOf(worker.run?.id ?? ""))
    .filter(({ command }) => command !== "sleep");
  const total = ours.reduce((sum, { pid }) => sum + memory(`/proc/${pid}/smaps_rollup`, "Pss"), 0);
  for (const { worker } of started) home.killRun(worker.run?.id ?? "");
  return [
    memoryRow("our memory per running worker (PSS)", total / WORKERS, await bareNodes(home.env), PER_WORKER_GOAL),
  ];
}

export function memory(file: string, key: string): number {
  return Number(new RegExp(`^${key}:\\s+(\\d+) kB`, "m").exec(readFileSync(file, "utf8"))?.[1]);
}

function mb(kilobytes: number): string {
  return `${(kilobytes / 1000).toFixed(kilobytes < 10_000 ? 2 : 1)} MB`;
}
