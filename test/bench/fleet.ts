import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { scripted } from "../../src/vendors/scripted/index.ts";
import { processTable } from "../../src/runtime/process/index.ts";
import { FleetHome } from "../support/fleet-home.ts";
import { BIN } from "../support/home.ts";
import { bareNodes, memory, memoryRow, PER_WORKER_GOAL } from "./memory.ts";
import { projectRefOf } from "../support/send-params.ts";
import { bareCall, bareProgram } from "./floors/programs.ts";
import { withLeast, type Row } from "./report.ts";
import { command, interleave, milliseconds, percentile, spreadOf, spreadOfFew } from "./sampling.ts";

const WORKERS = 50;
const ROUNDS = 3;
const LISTINGS = 20;
const IDLE_MS = 20_000;
/** The time within which every worker has been looked at in quiet, and the traces of their start are gone. */
const SETTLE_MS = 6_000;
/** Ticks of the kernel's accounting. */
const TICKS_PER_SECOND = 100;

const [PROGRAM = ""] = scripted.command;
const TOML = `project = "api"\n[workers.agent]\ncount = ${WORKERS}\nvendor = "scripted"\n`;

/** Fifty agents without a model: brought up, listed, and left alone. The home is their own, with tmux in it. */
export async function fleets(): Promise<Row[]> {
  const fleet = new FleetHome(TOML);
  try {
    await fleet.perdure(["daemon", "start"]);
    const rows = await startedTogether(fleet);
    await fleet.untilIdle();
    return [...rows, ...listed(fleet), await supervisorsMemory(fleet), ...(await supervisorsTime(fleet))];
  } finally {
    await fleet.clear();
  }
}

/**
 * tmux alone: one `tmux -f FILE`, a fresh server that makes fifty windows with the agent in them, until fifty processes have
 * the agent's program on their command line. Ours: one `perdure up` with its daemon there and no tmux server yet, until it has
 * returned and the same is true below our wrappers. In turn, round by round. The least that does what ours does is an empty Node, as
 * the verb is one, and tmux with a shell in each window that stays beside its agent, as a wrapper does.
 */
async function startedTogether(fleet: FleetHome): Promise<Row[]> {
  const alone: number[] = [];
  const leasts: number[] = [];
  const ours: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    alone.push(await tmuxAlone(fleet, join(fleet.dir, `alone-${round}`), false));
    leasts.push(await tmuxAlone(fleet, join(fleet.dir, `least-${round}`), true));
    const since = performance.now();
    const { started } = await fleet.up();
    if (started !== WORKERS) throw new Error(`${started} of ${WORKERS} workers came up`);
    const server = serverPid(join(fleet.state, "tmux"));
    await until(`${WORKERS} agents of ours`, () => agents(below(server)) === WORKERS);
    ours.push(performance.now() - since);
    await fleet.untilIdle();
    if (round < ROUNDS - 1) await fleet.down();
  }
  const [value, least, floor] = [Math.min(...ours), Math.min(...leasts), Math.min(...alone)];
  const row: Row = {
    what: `up of ${WORKERS} workers, until all run`,
    ours: milliseconds(value),
    floor: `${milliseconds(floor)} tmux alone`,
    value: value / floor,
    goal: 1.3,
    spread: spreadOfFew(alone),
  };
  const what = "one Node, and tmux with a shell beside each agent";
  return withLeast([row], { what, ours: milliseconds(least), value: least / floor });
}

async function tmuxAlone(fleet: FleetHome, socket: string, wrapped: boolean): Promise<number> {
  const program = wrapped ? `${PROGRAM}; exit $?` : PROGRAM;
  const lines = Array.from({ length: WORKERS }, () => `new-window -d -t alone: -c '${fleet.project}' '${program}'`);
  const file = `${socket}.conf`;
  writeFileSync(file, `new-session -d -s alone -x 200 -y 50 'sleep 600'\n${lines.join("\n")}\n`);
  const since = performance.now();
  if (wrapped) execFileSync(process.execPath, ["-e", "0"], { env: fleet.env });
  execFileSync("tmux", ["-S", socket, "-f", file, "start-server"], { env: fleet.env });
  const server = serverPid(socket);
  try {
    const pids = (): number[] => (wrapped ? below(server) : processTable().children(server));
    await until(`${WORKERS} agents in tmux alone`, () => agents(pids()) === WORKERS);
    return performance.now() - since;
  } finally {
    execFileSync("tmux", ["-S", socket, "kill-server"]);
    await until("tmux to be gone", () => processTable().inspect(server) === null);
  }
}

function serverPid(socket: string): number {
  return Number(execFileSync("tmux", ["-S", socket, "display-message", "-p", "#{pid}"], { encoding: "utf8" }));
}

/** Counts the agents among processes, by command line: the program itself, or what that becomes. */
function agents(pids: readonly number[]): number {
  const table = processTable();
  return pids.filter((pid) => table.argv(pid).some((word) => word === PROGRAM || word.endsWith("/scripted.cjs")))
    .length;
}

function below(server: number): number[] {
  const table = processTable();
  return table.children(server).flatMap((wrapper) => table.children(wrapper));
}

function listed(fleet: FleetHome): Row[] {
  const options = { cwd: fleet.project, env: fleet.env };
  const { file, args, env } = bareCall(fleet, "ls", { here: projectRefOf(fleet), project: null, all: false });
  const [bare = [], called = [], times = []] = interleave(LISTINGS, [
    command(process.execPath, ["-e", "0"], options),
    command(file, args, { ...options, env }),
    command(BIN, ["ls"], options),
  ]);
  const [floor, least, value] = [percentile(bare, 0.5), percentile(called, 0.5), percentile(times, 0.5)];
  const row: Row = {
    what: `ls of ${WORKERS} workers`,
    ours: milliseconds(value),
    floor: `${milliseconds(floor)} node -e 0`,
    value: value / floor,
    // More than a verb that only looks: each of fifty live workers and its processes is looked at first.
    goal: 1.4,
    failAt: 3,
    spread: spreadOf(bare),
  };
  const what = "the same list, asked for by hand";
  return withLeast([row], { what, ours: milliseconds(least), value: least / floor });
}

/** Everything of ours that is there for fifty workers, beside the daemon: wrappers, tmux, and our client to it. */
async function supervisorsMemory(fleet: FleetHome): Promise<Row> {
  const pids = supervisors(fleet).filter((pid) => pid !== fleet.daemonPid());
  const each = pids.reduce((sum, pid) => sum + memory(`/proc/${pid}/smaps_rollup`, "Pss"), 0) / WORKERS;
  return memoryRow("our memory per worker of a fleet (PSS)", each, await bareNodes(fleet.env), PER_WORKER_GOAL);
}

/** Ours beside the least that watches: one loop that reads a file of /proc for each wrapper and each agent, once a second. */
async function supervisorsTime(fleet: FleetHome): Promise<Row[]> {
  const pids = supervisors(fleet);
  const server = serverPid(join(fleet.state, "tmux"));
  const watched = [...processTable().children(server), ...below(server)];
  const bare = await bareProgram("bare-watch.cjs", watched.map(String));
  const ticks = (of: readonly number[]): number => of.reduce((sum, pid) => sum + ticksOf(pid), 0);
  await sleep(SETTLE_MS);
  const [before, bareBefore, since] = [ticks(pids), ticks([bare.pid ?? 0]), performance.now()];
  await sleep(IDLE_MS);
  const seconds = (performance.now() - since) / 1000;
  const share = (taken: number): number => (100 * taken) / TICKS_PER_SECOND / seconds;
  const [value, least] = [share(ticks(pids) - before), share(ticks([bare.pid ?? 0]) - bareBefore)];
  bare.kill("SIGKILL");
  const shown = (percent: number): string =>
    `${((percent / 100) * seconds * 1000).toFixed(0)} ms in ${seconds.toFixed(0)} s`;
  const row: Row = {
    what: `supervision of ${WORKERS} idle workers, of one core`,
    ours: shown(value),
    floor: "one core",
    value,
    goal: 0.5,
    failAt: 1.2,
    unit: "%",
    spread: 1,
  };
  const what = "one read a second for each process of theirs";
  return withLeast([row], { what, ours: shown(least), value: least });
}

/** The daemon, its client to tmux, tmux, and a wrapper per worker; not the agents. */
function supervisors(fleet: FleetHome): number[] {
  const table = processTable();
  const daemon = fleet.daemonPid() ?? 0;
  const server = serverPid(join(fleet.state, "tmux"));
  return [daemon, ...table.children(daemon), server, ...table.children(server)];
}

function ticksOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  return Number(fields[11]) + Number(fields[12]);
}

async function until(what: string, holds: () => boolean): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`waited a minute for ${what}`);
    await sleep(5);
  }
}
