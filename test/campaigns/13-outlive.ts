import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn, setTimeout as sleep } from "node:timers/promises";
import type { WorkerSummary } from "../../src/protocol/records/worker.ts";
import { isAlive, liveRuns, processTable } from "../../src/runtime/process/index.ts";
import { FleetHome } from "../support/fleet-home.ts";
import { campaign, seeded } from "../support/campaign.ts";
import { finish } from "../support/home.ts";
import { check, eventually, pick, whole } from "../support/check.ts";

interface Size {
  kills: number;
  workers: number;
}

const MOMENTS = ["quiet", "up", "pane", "backing-off", "twice"] as const;
type Moment = (typeof MOMENTS)[number];

export const outlive = campaign<Size>({
  number: 13,
  promise: "workers outlive the daemon",
  reduced: { kills: 7, workers: 4 },
  full: { kills: 200, workers: 24 },
  async run(size, seed) {
    const play = new Play(size, seeded(seed));
    try {
      return await play.all();
    } finally {
      await play.fleet.clear();
    }
  },
});

class Play {
  readonly fleet: FleetHome;
  readonly #size: Size;
  readonly #random: () => number;
  readonly #moments: Record<Moment, number> = { quiet: 0, up: 0, pane: 0, "backing-off": 0, twice: 0 };
  /** Which conversation each is in, for good. */
  readonly #sessions = new Map<string, string>();
  #kills = 0;
  #readopted = 0;
  #victim = 0;

  constructor(size: Size, random: () => number) {
    this.#size = size;
    this.#random = random;
    const half = Math.floor(size.workers / 2);
    this.fleet = new FleetHome(
      `project = "api"
[defaults]
restart = "always"
[workers.agent]
count = ${size.workers - half}
vendor = "scripted"
[workers.program]
count = ${half}
command = ["sleep", "3600"]
`,
      { PERDURE_RESTART_WAIT_MS: "100" },
    );
  }

  async all(): Promise<Record<string, number>> {
    // The very first one, too, is interrupted.
    await this.#killDuringUp();
    await this.#everybodyUp(true);
    for (let round = 0; this.#kills < this.#size.kills; round++) {
      await this.#round(MOMENTS[round % MOMENTS.length] ?? "quiet");
    }
    await this.fleet.down();
    check(liveRuns(processTable(), join(this.fleet.state, "perdure.sock")).size === 0, "something was left by down");
    const { quiet, up, pane, twice } = this.#moments;
    const moments = { quiet, up, pane, backingOff: this.#moments["backing-off"], twice };
    return { kills: this.#kills, workers: this.#size.workers, ...moments, readopted: this.#readopted, ...NONE };
  }

  async #round(moment: Moment): Promise<void> {
    const before = await this.fleet.workers();
    const touched = new Set<string>();
    if (moment === "up" || moment === "pane") {
      for (let n = whole(this.#random, 3); n >= 0; n--) touched.add(pick(this.#random, before).name);
      await this.fleet.down(...touched);
      await (moment === "up" ? this.#killDuringUp() : this.#killAtAPane());
    } else if (moment === "backing-off") {
      const victim = before[this.#victim++ % before.length];
      touched.add(victim?.name ?? "");
      this.fleet.killRun(victim?.run?.id ?? "");
      await sleep(whole(this.#random, 150));
      await this.#kill();
    } else {
      await sleep(whole(this.#random, 50));
      await this.#kill();
    }
    if (moment === "twice") await this.#killWhileItStarts();
    this.#moments[moment]++;
    await this.#sameAsBefore(before.filter(({ name }) => !touched.has(name)));
    // Killed at any moment of it, `up` may not have been heard at all.
    await this.#everybodyUp(moment === "up");
  }

  async #killDuringUp(): Promise<void> {
    const up = this.fleet.spawn(["up", "--yes"]);
    const ended = finish(up);
    await sleep(whole(this.#random, 600));
    await this.#kill();
    await ended;
  }

  /** Between the claim and the pane: as soon as there is something for a pane to start. */
  async #killAtAPane(): Promise<void> {
    const known = new Set(this.#scripts());
    const up = this.fleet.spawn(["up", "--yes"]);
    const ended = finish(up);
    while (up.exitCode === null && this.#scripts().every((script) => known.has(script))) await turn();
    await this.#kill();
    await ended;
  }

  #scripts(): string[] {
    const runs = join(this.fleet.state, "runs");
    return existsSync(runs) ? readdirSync(runs).filter((run) => existsSync(join(runs, run, "start"))) : [];
  }

  async #killWhileItStarts(): Promise<void> {
    const ls = finish(this.fleet.spawn(["ls"]));
    await sleep(whole(this.#random, 300));
    await this.#kill();
    await ls;
  }

  /** Nothing, if there is none at the moment. */
  async #kill(): Promise<void> {
    const table = processTable();
    const daemon = table.inspect(this.fleet.daemonPid() ?? 0);
    if (daemon === null || table.variable(daemon.pid, "HOME") !== this.fleet.dir) return;
    process.kill(daemon.pid, "SIGKILL");
    await eventually("the daemon to be gone", () => !isAlive(table, daemon));
    this.#kills++;
  }

  /** Checks the workers that nobody touched: the same run, in the same process, at the first look. */
  async #sameAsBefore(before: WorkerSummary[]): Promise<void> {
    const now = new Map((await this.fleet.workers()).map((worker) => [worker.name, worker]));
    for (const { name, run, generation, session } of before) {
      const then = `${run?.id} (pid ${run?.pid}, generation ${generation})`;
      const found = now.get(name);
      const same = found?.run?.id === run?.id && found?.run?.pid === run?.pid && found?.generation === generation;
      check(run !== null && same, () => `${name} was ${then}, and is ${JSON.stringify(found)}`);
      check(found?.session?.id === session?.id, `${name} is in ${found?.session?.id}, and was in ${session?.id}`);
      this.#readopted++;
    }
  }

  /** Asks again for the interrupted starts; the others come up by themselves. */
  async #everybodyUp(asked: boolean): Promise<void> {
    if (asked) {
      const { refused, workers } = await this.fleet.up();
      check(refused === 0, () => `up refused: ${JSON.stringify(workers)}`);
    }
    let last: WorkerSummary[] = [];
    const isUp = ({ name, state, session, attention }: WorkerSummary): boolean =>
      attention === null &&
      (name.startsWith("agent") ? state === "idle" && session?.proved === true : state === "running");
    await eventually("every worker to be up", async () => {
      last = await this.fleet.workers();
      return last.length === this.#size.workers && last.every(isUp);
    }).catch((error: unknown) => {
      throw new Error(`${String(error)}: ${JSON.stringify(last.filter((worker) => !isUp(worker)))}`, { cause: error });
    });
    this.#checkProcesses(last);
  }

  #checkProcesses(workers: WorkerSummary[]): void {
    const table = processTable();
    const live = liveRuns(table, join(this.fleet.state, "perdure.sock"));
    for (const { name, run, session } of workers) {
      const pids = live.get(run?.id ?? "") ?? [];
      const programs = pids.filter((pid) => table.inspect(pid)?.parentPid === run?.pid);
      check(programs.length === 1, () => `${name} has the programs ${programs.join(" ")} among ${pids.join(" ")}`);
      live.delete(run?.id ?? "");
      if (session === null) continue;
      const known = this.#sessions.get(name) ?? session.id;
      check(known === session.id, `${name} is in ${session.id}, and was in ${known}`);
      this.#sessions.set(name, known);
    }
    check(live.size === 0, () => `processes of runs that nobody knows of: ${JSON.stringify([...live])}`);
    // Two processes of one conversation would both have a run that somebody knows of only if two workers shared it.
    const ids = [...this.#sessions.values()];
    check(new Set(ids).size === ids.length, () => `two workers share a conversation: ${ids.join(" ")}`);
  }
}

const NONE = { duplicates: 0, orphans: 0 };
