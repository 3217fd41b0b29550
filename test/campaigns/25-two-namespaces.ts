import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { UpItem } from "../../src/protocol/records/fleet.ts";
import type { WorkerSummary } from "../../src/protocol/records/worker.ts";
import { findDaemons, processTable } from "../../src/runtime/process/index.ts";
import { statePaths } from "../../src/state/paths.ts";
import { campaign, seeded } from "../support/campaign.ts";
import { check, eventually, pick, whole } from "../support/check.ts";
import { Container, whyNoContainers } from "../support/container.ts";
import { byName, FleetHome } from "../support/fleet-home.ts";
import { BIN } from "../support/home.ts";

interface Size {
  rounds: number;
  /** One of so many rounds kills a container while its fleet comes up. */
  fleetEvery: number;
}

const FLEET = `[workers.f]\ncommand = ["sleep", "1000"]\ncount = 3\n`;
const MEMBERS = ["f-1", "f-2", "f-3"];

export const twoNamespaces = campaign<Size>({
  number: 25,
  promise: "one owner of a name over two pid namespaces with one state folder",
  reduced: { rounds: 6, fleetEvery: 4 },
  full: { rounds: 200, fleetEvery: 8 },
  async run({ rounds, fleetEvery }, seed) {
    const missing = whyNoContainers();
    if (missing !== null) {
      process.stderr.write(`campaign 25 is skipped: ${missing}\n`);
      return { skipped: 1 };
    }
    const fire = new TwoContainers(seeded(seed));
    try {
      await fire.begin();
      for (let round = 1; round <= rounds; round++) {
        if (round % fleetEvery === 0) await fire.fleetRound();
        else await fire.workerRound(`w${round}`);
      }
      return { rounds, ...fire.tally };
    } finally {
      await fire.clear();
    }
  },
});

/** Two containers, one home, and a daemon that is now in one, now in the other. */
class TwoContainers {
  readonly tally = {
    daemonsKilled: 0,
    daemonsStopped: 0,
    containersKilled: 0,
    heldRefused: 0,
    unseenRefused: 0,
    wrappersKilled: 0,
    takenOver: 0,
    givenOn: 0,
    broughtBack: 0,
  };
  readonly #random: () => number;
  #workerRounds = 0;
  readonly #home = new FleetHome(FLEET);
  readonly #a = new Container(this.#home, "dev-a");
  readonly #b = new Container(this.#home, "dev-b");

  constructor(random: () => number) {
    this.#random = random;
  }

  async begin(): Promise<void> {
    await Promise.all([this.#a.start(), this.#b.start()]);
  }

  async clear(): Promise<void> {
    await Promise.all([this.#a.kill(), this.#b.kill()]);
    await this.#home.clear();
  }

  /** A worker in one container, the daemon then in the other: the name is held while the worker lives, and free after it. */
  async workerRound(name: string): Promise<void> {
    const [here, there] = this.#random() < 0.5 ? [this.#a, this.#b] : [this.#b, this.#a];
    await this.#moveDaemon(here);
    await here.startWorker(name);
    const run = (await this.#worker(here, name))?.run?.id ?? "";
    await this.#moveDaemon(there);
    await this.#mustBeHeld(name, run, here, there);
    await this.#mustBeUnseen(here, there);
    const fates = [
      () => this.#killWorker(name, run, there),
      () => this.#killWrapperFirst(name, run, here, there),
      () => this.#killContainer(name, here, there),
      () => this.#takeOver(name, run, here, there),
      () => this.#moveBack(name, run, here),
    ];
    // In turn, so that a few rounds have them all.
    await fates[this.#workerRounds++ % fates.length]?.();
    check(this.#livingRuns(name).length <= 1, () => `${name} has two owners: ${this.#livingRuns(name).join(", ")}`);
    this.#home.killRun(run);
  }

  /** A container is killed while its fleet comes up, and started again: everything comes back, once. */
  async fleetRound(): Promise<void> {
    const where = pick(this.#random, [this.#a, this.#b]);
    await this.#moveDaemon(where);
    const up = where.spawn([BIN, "up", "--yes"]);
    await Promise.race([once(up, "exit"), sleep(whole(this.#random, 2_000))]);
    await this.#restart(where);
    const { workers } = await where.json<{ workers: UpItem[] }>(["up", "--yes"]);
    for (const { name, outcome, reason } of workers) {
      check(outcome === "started", () => `${name} did not come back: ${outcome}, ${reason}`);
      // A process that is about to become its program shows no environment for a moment.
      await eventually(`${name} to run`, () => this.#livingRuns(name).length > 0);
      check(this.#livingRuns(name).length === 1, () => `${name} runs as ${this.#livingRuns(name).join(", ")}`);
      this.tally.broughtBack++;
    }
    check(workers.length === MEMBERS.length, "the fleet is not complete");
    const { code, stderr } = await where.perdure(["down"]);
    check(code === 0, () => `down failed: ${stderr}`);
  }

  async #killWorker(name: string, run: string, there: Container): Promise<void> {
    this.#home.killRun(run);
    await this.#mustBeFree(name, there);
  }

  async #killWrapperFirst(name: string, run: string, here: Container, there: Container): Promise<void> {
    const processes = this.#home.processesOf(run);
    const wrapper = processes.find(({ parentPid }) => processes.every(({ pid }) => pid !== parentPid));
    check(wrapper !== undefined && processes.length > 1, `${run} has no wrapper with a program`);
    process.kill(wrapper.pid, "SIGKILL");
    await eventually("the wrapper to be gone", () => processTable().inspect(wrapper.pid) === null);
    this.tally.wrappersKilled++;
    await this.#mustBeHeld(name, run, here, there);
    await this.#killWorker(name, run, there);
  }

  async #killContainer(name: string, here: Container, there: Container): Promise<void> {
    await this.#restart(here);
    await this.#mustBeFree(name, there);
  }

  async #takeOver(name: string, run: string, here: Container, there: Container): Promise<void> {
    const { stdout, code } = await there.perdure(["takeover", name]);
    check(code === 0 && stdout.includes(`of ${here.host}`), () => `takeover does not say where: ${stdout}`);
    check(this.#home.processesOf(run).length > 0, "a process of another namespace was signalled");
    this.tally.takenOver++;
    const { code: ran, stderr } = await there.perdure(["run", name, "--", "true"]);
    check(ran === 0, () => `a name that was taken over is not free: ${stderr}`);
  }

  /** The daemon comes back to where the worker is, which is then a worker like any other. */
  async #moveBack(name: string, run: string, here: Container): Promise<void> {
    await this.#moveDaemon(here);
    const worker = await this.#worker(here, name);
    check(worker?.run?.id === run && worker.attention === null, () => `after the move: ${JSON.stringify(worker)}`);
    const { code, stderr } = await here.perdure(["stop", name]);
    check(code === 0 && this.#home.processesOf(run).length === 0, () => `not stopped: ${stderr}`);
  }

  async #mustBeHeld(name: string, run: string, here: Container, there: Container): Promise<void> {
    const { code, stderr } = await there.perdure(["run", name, "--", "true"]);
    check(code === 4, () => `the name of a living worker was given away: exit ${code}, ${stderr}`);
    check(stderr.includes(`of ${here.host}`), () => `the refusal does not say where: ${stderr}`);
    const worker = await this.#worker(there, name);
    check(worker?.run?.id === run, () => `a living worker is told to be ${worker?.state}`);
    check(this.#home.processesOf(run).length > 0, "a living worker was ended");
    this.tally.heldRefused++;
  }

  async #mustBeUnseen(here: Container, there: Container): Promise<void> {
    const { code, stderr } = await here.perdure(["run", "unseen", "--", "true"]);
    check(code === 5 && stderr.includes(`of ${there.host}`), () => `an unseen claim: exit ${code}, ${stderr}`);
    this.tally.unseenRefused++;
  }

  async #mustBeFree(name: string, there: Container): Promise<void> {
    const { code, stderr } = await there.perdure(["run", name, "--", "true"]);
    check(code === 0, () => `the name of a dead worker is not free: exit ${code}, ${stderr}`);
    this.tally.givenOn++;
  }

  /** Lets a daemon serve in this container: the one before is killed, or stopped from either container. */
  async #moveDaemon(to: Container): Promise<void> {
    const daemons = findDaemons(processTable(), statePaths(this.#home.env));
    check(daemons.length <= 1, () => `two daemons serve: ${JSON.stringify(daemons)}`);
    const [daemon] = daemons;
    if (daemon && this.#random() < 0.5) {
      process.kill(daemon.pid, "SIGKILL");
      this.tally.daemonsKilled++;
    } else if (daemon) {
      const { code, stderr } = await pick(this.#random, [this.#a, this.#b]).perdure(["daemon", "stop"]);
      check(code === 0, () => `daemon stop: ${stderr}`);
      this.tally.daemonsStopped++;
    }
    const { code, stderr } = await to.perdure(["daemon", "start"]);
    check(code === 0, () => `daemon start: ${stderr}`);
  }

  async #restart(container: Container): Promise<void> {
    await container.kill();
    await container.start();
    this.tally.containersKilled++;
  }

  async #worker(where: Container, name: string): Promise<WorkerSummary | undefined> {
    return byName((await where.json<{ workers: WorkerSummary[] }>(["ls"])).workers)[name];
  }

  /** The runs of a name that have a process, wherever it is; one that lost its name to the operator does not count. */
  #livingRuns(name: string): string[] {
    const table = processTable();
    const runs = table
      .withVariable("PERDURE_NAME", name)
      .map(({ pid }) => [pid, table.variable(pid, "PERDURE_RUN")] as const);
    const own = runs.filter(([pid]) => table.variable(pid, "HOME") === this.#home.dir);
    return [...new Set(own.map(([, run]) => run ?? ""))];
  }
}
