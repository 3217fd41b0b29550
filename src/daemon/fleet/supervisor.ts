import { afterEnd, NO_ATTEMPTS, started, type Attempts, type Verdict } from "../../core/restart.ts";
import { STARTS_AT_ONCE } from "../../limits.ts";
import { isPerdureError, type PerdureError } from "../../protocol/errors.ts";
import { countRestart, desiredWorkers, heldOf, keepingOf, setHeld, type Held } from "../../store/fleet.ts";
import { runById, runsOfWorker, type RunRow } from "../../store/runs.ts";
import { workerById, type WorkerRow } from "../../store/workers.ts";
import { whyHeld } from "../../vendors/held.ts";
import { record, type House } from "../house.ts";
import { Departure } from "./departure.ts";
import type { Panes } from "./panes.ts";
import { attemptsIn, RULES } from "./rules.ts";
import { adoptPanes, keepScreen } from "./screens.ts";
import { startInPane, type Given, type Started } from "./start.ts";

/** What is under way for one worker. */
interface Care {
  attempts: Attempts;
  timer: NodeJS.Timeout | null;
  starting: Promise<Started | null> | null;
  /** The run whose end was decided about: two ways lead there after a daemon's start. */
  decided: string | null;
}

/**
 * Keeps what is desired running. What it knows of a worker is in the store or found by looking; only the count of attempts
 * and a start under way are its own, so a daemon that was killed in the middle of anything goes on where it was.
 */
export class Supervisor {
  readonly panes: Panes;
  readonly #house: () => House;
  readonly #departure = new Departure(STARTS_AT_ONCE);
  readonly #care = new Map<number, Care>();
  #stopped = false;

  constructor(house: () => House, panes: Panes) {
    this.#house = house;
    this.panes = panes;
  }

  /**
   * After the daemon's own start. What died while nobody looked is treated as if somebody had; after a reboot the fleet
   * waits for `up`, unless this daemon was started to bring it back.
   */
  async recover(afterBoot: boolean): Promise<void> {
    const house = this.#house();
    try {
      await adoptPanes(house, this.panes);
    } catch (error) {
      // Without tmux nothing of it can be seen; what lives is known by its processes.
      house.log(`panes: ${String(error)}`);
    }
    // What ended while no daemon was there is on disk before anything is decided about it.
    await house.watch.lookNow();
    for (const worker of desiredWorkers(house.db)) {
      const [last] = runsOfWorker(house.db, worker.id, 1);
      const rebooted = last !== undefined && last.boot_id !== house.processes.bootId();
      if (worker.holder_run !== null || heldOf(worker) !== null || worker.unresumable !== null) continue;
      if (rebooted && !afterBoot) continue;
      // Stopped, and wanted all the same: somebody has asked for it since, and its turn did not come.
      const awaited = last === undefined || last.stopped_by !== null;
      if (rebooted || awaited) void this.#startAlone(worker.id);
      else void this.#decide(last, worker);
    }
  }

  stop(): void {
    this.#stopped = true;
    for (const { timer } of this.#care.values()) if (timer) clearTimeout(timer);
  }

  /** Somebody has to be there to start one again. */
  isNeeded(): boolean {
    return [...this.#care.values()].some(({ timer, starting }) => timer !== null || starting !== null);
  }

  /** What it does for a worker that does not run. */
  stateOf(workerId: number): "starting" | "backing-off" | null {
    const care = this.#care.get(workerId);
    if (care?.starting) return "starting";
    return care?.timer ? "backing-off" : null;
  }

  /** By somebody's wish: what was counted before is forgotten. Null when it runs already. */
  async bringUp(workerId: number, given: Given): Promise<Started | null> {
    const care = this.#careFor(workerId);
    if (care.timer) clearTimeout(care.timer);
    care.timer = null;
    care.attempts = NO_ATTEMPTS;
    return this.#start(workerId, given);
  }

  /** It is not wanted any more. */
  async leave(workerId: number): Promise<void> {
    const care = this.#care.get(workerId);
    if (care?.timer) clearTimeout(care.timer);
    if (care) care.timer = null;
    // One that is on its way up is there before it is stopped.
    await care?.starting?.catch(() => null);
    this.#care.delete(workerId);
  }

  /** After the end of a run is on disk. */
  ended(runId: string): void {
    if (this.#stopped) return;
    const run = runById(this.#house().db, runId);
    const worker = run && workerById(this.#house().db, run.worker_id);
    if (!run || run.pane === null || worker?.desired !== 1 || worker.retired_ms !== null) return;
    // The machine went down, and the run with it: nobody's crash, and not ours to bring back unasked.
    if (run.boot_id !== this.#house().processes.bootId()) return;
    void this.#decide(run, worker);
  }

  async #decide(run: RunRow, worker: WorkerRow): Promise<void> {
    const house = this.#house();
    const care = this.#careFor(worker.id);
    if (care.decided === run.id) return;
    care.decided = run.id;
    try {
      const text = await keepScreen(house, this.panes, run);
      const held = whyHeld(worker.vendor, text)?.line ?? null;
      const asked = run.stopped_by !== null || run.displaced_ms !== null;
      // By the clock that does not jump, from its start.
      const ranMs = house.monotonicMs() - (care.attempts.startsAtMs.at(-1) ?? 0);
      const end = { exit: run.exit, asked, ranMs, held };
      const policy = keepingOf(worker).restart;
      const after = afterEnd(care.attempts, end, policy, house.monotonicMs(), Math.random(), RULES);
      care.attempts = after.attempts;
      await this.#carryOut(worker, run, after.verdict);
    } catch (error) {
      house.log(`could not decide about ${run.id}: ${String(error)}`);
    }
  }

  async #carryOut(worker: WorkerRow, run: RunRow, verdict: Verdict): Promise<void> {
    if (run.displaced_ms !== null && run.stopped_by === null) {
      const reason = `taken over by ${run.displaced_by ?? "somebody"}`;
      return this.#hold(worker, { state: "held", reason });
    }
    if (verdict.kind === "leave") return;
    if (verdict.kind !== "again") return this.#hold(worker, { state: verdict.kind, reason: verdict.reason });
    const { inMs } = verdict;
    await this.#note(worker, "worker.backing-off", { inMs: Math.round(inMs), exit: run.exit });
    const care = this.#careFor(worker.id);
    if (this.#stopped || workerById(this.#house().db, worker.id)?.desired !== 1) return;
    if (care.timer) clearTimeout(care.timer);
    care.timer = setTimeout(() => {
      care.timer = null;
      void this.#startAlone(worker.id);
    }, inMs);
  }

  /** Nobody asked for this start, so nobody hears of its failure: what it cannot do needs a person. */
  async #startAlone(workerId: number): Promise<void> {
    const house = this.#house();
    const worker = workerById(house.db, workerId);
    if (this.#stopped || worker?.desired !== 1) return;
    const environment = JSON.parse(worker.environment) as Record<string, string>;
    try {
      const begun = await this.#start(workerId, { command: null, cwd: null, vendor: null, environment, fresh: false });
      if (begun) await house.writer.write(() => countRestart(house.db, workerId));
    } catch (error) {
      if (!isPerdureError(error)) house.log(`could not start ${worker.name}: ${String(error)}`);
      await this.refused(worker, error);
    }
  }

  /** It could not be started: said by `ls` until it can. */
  async refused(worker: WorkerRow, error: unknown): Promise<void> {
    // `ls` says why by itself when it cannot come back to its conversation, or when somebody else has the name.
    if (isPerdureError(error) && (error.details?.unresumable === true || error.code === "held")) return;
    await this.#hold(worker, { state: "held", reason: isPerdureError(error) ? withHint(error) : String(error) });
  }

  #start(workerId: number, given: Given): Promise<Started | null> {
    const care = this.#careFor(workerId);
    care.starting ??= this.#departure
      .pass((ready) => this.#startOnce(workerId, given, ready))
      .finally(() => {
        care.starting = null;
      });
    return care.starting;
  }

  async #startOnce(workerId: number, given: Given, ready: () => Promise<void>): Promise<Started | null> {
    const house = this.#house();
    if (this.liveRun(workerId) !== null) return null;
    const care = this.#careFor(workerId);
    care.attempts = started(care.attempts, house.monotonicMs(), RULES);
    return startInPane(house, this.panes, workerId, given, ready);
  }

  liveRun(workerId: number): RunRow | null {
    const house = this.#house();
    const worker = workerById(house.db, workerId);
    const run = worker?.holder_run == null ? null : runById(house.db, worker.holder_run);
    return run !== null && house.watch.processesOf(run).length > 0 ? run : null;
  }

  async #hold(worker: WorkerRow, held: Held): Promise<void> {
    const house = this.#house();
    await house.writer.write(() => {
      setHeld(house.db, worker.id, held);
      record(
        house,
        `worker.${held.state}`,
        { projectId: worker.project_id, workerId: worker.id },
        { reason: held.reason },
      );
    });
  }

  async #note(worker: WorkerRow, type: string, data: Record<string, unknown>): Promise<void> {
    const house = this.#house();
    await house.writer.write(() => record(house, type, { projectId: worker.project_id, workerId: worker.id }, data));
  }

  #attemptsOf(workerId: number): Attempts {
    const house = this.#house();
    return attemptsIn(runsOfWorker(house.db, workerId, RULES.budget), house.now(), house.monotonicMs());
  }

  #careFor(workerId: number): Care {
    const known = this.#care.get(workerId);
    if (known) return known;
    const care: Care = { attempts: this.#attemptsOf(workerId), timer: null, starting: null, decided: null };
    this.#care.set(workerId, care);
    return care;
  }
}

function withHint({ message, hint }: PerdureError): string {
  return hint ? `${message} (${hint})` : message;
}
