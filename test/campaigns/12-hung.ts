import { RUN_POLL_MS } from "../../src/limits/index.ts";
import type { EventRecord } from "../../src/protocol/records/admin.ts";
import type { WorkerSummary } from "../../src/protocol/records/worker.ts";
import { processTable } from "../../src/runtime/process/index.ts";
import { FleetHome } from "../support/fleet-home.ts";
import { campaign, seeded } from "../support/campaign.ts";
import { HangModel, type HangTally } from "./12-hang-model.ts";
import { check, eventually } from "../support/check.ts";

interface Size {
  rounds: number;
  /** Stopped by a signal: agents and programs of no vendor's in panes, and programs in terminals of their own. */
  stoppedAgents: number;
  stoppedPrograms: number;
  stoppedAlone: number;
  busy: number;
}

/** The time after which an agent counts as hung, in place of minutes. */
const BOUND_MS = 4_000;
const TWO_POLLS_MS = 2 * RUN_POLL_MS;

export const hung = campaign<Size>({
  number: 12,
  promise: "a hung worker is found",
  reduced: { rounds: 3, stoppedAgents: 2, stoppedPrograms: 1, stoppedAlone: 2, busy: 2 },
  full: { rounds: 100, stoppedAgents: 20, stoppedPrograms: 50, stoppedAlone: 30, busy: 20 },
  async run(size, seed) {
    const tally: HangTally = { looks: 0, spells: 0, flagged: 0, stalls: 0, idleHours: 0 };
    for (let round = 0; round < size.rounds; round++) {
      const agents = new HangModel(seeded(seed + round), tally, 12);
      agents.hour();
      agents.hour();
    }
    return { ...tally, falseAlarms: 0, ...(await realWorkers(size)) };
  },
});

function fleetFile({ stoppedAgents, stoppedPrograms, busy }: Size): string {
  const agent = 'vendor = "scripted"';
  return `project = "api"
[workers.agent]
count = ${stoppedAgents}
${agent}
[workers.program]
count = ${stoppedPrograms}
command = ["sleep", "3600"]
[workers.busy]
count = ${busy}
${agent}
args = ["--script", "/hang"]
[workers.idle]
${agent}
[workers.plain]
command = ["sleep", "3601"]
`;
}

async function realWorkers(size: Size): Promise<Record<string, number>> {
  const fleet = new FleetHome(fleetFile(size), { PERDURE_HUNG_AFTER_MS: String(BOUND_MS) });
  try {
    const { refused } = await fleet.up();
    check(refused === 0, `${refused} of the fleet did not come up`);
    for (let n = 0; n < size.stoppedAlone; n++) await fleet.start(`alone-${n}`, ["sleep", "3600"]);
    const before = await settled(fleet);
    const toStop = before.filter(({ name }) => /^(agent|program|alone)/.test(name));

    const stoppedAt = stopAll(fleet, toStop);
    const suspended = await allTold(fleet, "worker.suspended", toStop.length);
    const latestMs = Math.max(
      ...suspended.map((event) => Date.parse(event.at) - (stoppedAt.get(event.worker ?? "") ?? 0)),
    );
    check(latestMs <= TWO_POLLS_MS, `a stopped worker was told of after ${latestMs} ms`);

    const silent = await allTold(fleet, "worker.hung", size.busy);
    const lateMs = Math.max(...silent.map(({ data }) => Number(data.ms) - BOUND_MS));
    check(lateMs <= TWO_POLLS_MS, `a silent worker was told of ${lateMs} ms late`);
    await checkAttention(fleet, before);

    for (const { run } of toStop) for (const { pid } of fleet.processesOf(run?.id ?? "")) process.kill(pid, "SIGCONT");
    await eventually("nobody to be suspended", async () => {
      return (await fleet.workers()).every(({ attention }) => attention !== "suspended");
    });
    // Whoever asks twice is told once.
    check((await told(fleet, "worker.suspended")).length === toStop.length, "a spell was told of twice");
    check((await told(fleet, "worker.hung")).length === size.busy, "one that does not hang was told of, or one twice");
    return { stopped: toStop.length, busy: size.busy, suspendedMsMax: latestMs, hungLateMsMax: lateMs, robbed: 0 };
  } finally {
    await fleet.clear();
  }
}

async function settled(fleet: FleetHome): Promise<WorkerSummary[]> {
  let workers: WorkerSummary[] = [];
  await eventually("every agent to have shown itself", async () => {
    workers = await fleet.workers();
    return workers.every(({ name, state, session }) => {
      if (/^(program|alone|plain)/.test(name)) return state === "running";
      return session?.proved === true && state === (name.startsWith("busy") ? "busy" : "idle");
    });
  });
  return workers;
}

/** Only its program, where tmux would wake the rest; else all of it, as Ctrl-Z would. When each was stopped. */
function stopAll(fleet: FleetHome, workers: WorkerSummary[]): Map<string, number> {
  const table = processTable();
  return new Map(
    workers.map(({ name, run }) => {
      const all = fleet.processesOf(run?.id ?? "").map(({ pid }) => pid);
      const program = all.filter((pid) => table.inspect(pid)?.parentPid === run?.pid);
      check(program.length === 1, `${name} has ${program.length} programs`);
      const at = Date.now();
      for (const pid of name.startsWith("alone") ? all : program) process.kill(pid, "SIGSTOP");
      return [name, at];
    }),
  );
}

async function allTold(fleet: FleetHome, type: string, count: number): Promise<EventRecord[]> {
  let events: EventRecord[] = [];
  await eventually(`${count} ${type}`, async () => {
    events = await told(fleet, type);
    return events.length >= count;
  });
  return events;
}

async function told(fleet: FleetHome, type: string): Promise<EventRecord[]> {
  const { stdout } = await fleet.perdure(["events", "--json", "--limit", "20000"]);
  const events = stdout.trim().split("\n");
  return events.map((line) => JSON.parse(line) as EventRecord).filter((event) => event.type === type);
}

/** Each says what is the matter with it, and nobody has lost a name over it. */
async function checkAttention(fleet: FleetHome, before: WorkerSummary[]): Promise<void> {
  const known = new Map(before.map((worker) => [worker.name, worker]));
  for (const { name, attention, run, generation } of await fleet.workers()) {
    const was = known.get(name);
    check(run?.id === was?.run?.id && generation === was?.generation, `${name} was robbed: ${run?.id}`);
    const expected = /^(agent|program|alone)/.test(name)
      ? /^suspended$/
      : name.startsWith("busy")
        ? /^busy for \d+ s/
        : null;
    check(expected === null ? attention === null : expected.test(attention ?? ""), `${name}: ${attention}`);
  }
}
