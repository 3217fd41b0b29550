import { afterEnd, NO_ATTEMPTS, started, type End, type Verdict } from "../../core/restart.ts";
import { RECONCILE_MS, STARTS_AT_ONCE } from "../../limits/index.ts";
import { isPerdureError, PerdureError } from "../../protocol/errors.ts";
import type { StatePaths } from "../../state/paths.ts";
import { failureKind } from "../../store/failure.ts";
import { countRestart, setOnHold } from "../../store/fleet.ts";
import { holderOf, runById, runsOfWorker, type Run } from "../../store/runs.ts";
import { fleetSettingsOf, desiredWorkers, workerById, type OnHold, type Worker } from "../../store/workers.ts";
import { record, type House } from "../services.ts";
import { Cares, clearTimer } from "./worker-state.ts";
import { Departure } from "./start-batch.ts";
import { endOf } from "./exit-evidence.ts";
import { PaneLooks } from "./pane-poll.ts";
import { Panes } from "./tmux-handle.ts";
import { RULES } from "./restart-rules.ts";
import { adoptPanes } from "./screens.ts";
import { startInPane, type Given, type Started } from "./start-in-pane.ts";

/** How the run of a start ends that came to nothing: whoever started it says why. */
const GIVEN_BACK = "released";

/**
 * Keeps what is desired running. What it knows of a worker is in the store or found by looking; only the count of attempts
 * and a start under way are its own, so a daemon that was killed in the middle of anything goes on where it was.
 */
export class Supervisor {
  readonly panes: Panes;
  readonly #house: () => House;
  readonly #departure = new Departure(STARTS_AT_ONCE);
  readonly #cares: Cares;
  /** What runs were blocked by when they ended, until it was decided about them. */
  readonly #dialogs = new Map<string, string>();
  readonly #looks: PaneLooks;
  #timer: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(house: () => House, paths: StatePaths, log: (line: string) => void) {
    this.#house = house;
    this.#cares = new Cares(house);
    this.panes = new Panes(paths, log, (server) => this.#looks.begin(server));
    this.#looks = new PaneLooks(house, this.panes);
  }

  /**
   * After the daemon's own start. What died while nobody looked is treated as if somebody had; after a reboot the fleet
   * waits for `up`, unless this daemon was started to bring it back.
   */
  async recover(afterBoot: boolean): Promise<void> {
    const house = this.#house();
    const round = (): void => {
      try {
        this.#reconcile(afterBoot);
      } catch (error) {
        this.#failed("what is desired cannot be read", error);
      }
    };
    await adoptPanes(house, this.panes);
    // What ended while no daemon was there is on disk before anything is decided about it.
    await house.watch.lookNow();
    if (this.#stopped) return;
    this.#timer = setInterval(round, RECONCILE_MS).unref();
    round();
  }

  /** A disk or a store that failed under us concerns everybody. */
  #failed(what: string, error: unknown): void {
    const [house, kind] = [this.#house(), failureKind(error)];
    return kind === null ? house.log(`${what}: ${String(error)}`) : house.onStoreFailure(kind, error);
  }

  /** Desired against actual. Ends are told as they come; this finds what was not told, or could not be done then. */
  #reconcile(afterBoot: boolean): void {
    const house = this.#house();
    for (const worker of desiredWorkers(house.db)) {
      const care = this.#cares.of(worker.id);
      if (worker.holderRun !== null || worker.onHold !== null || worker.unresumable !== null) continue;
      if (care.timer !== null || care.starting !== null || care.resting) continue;
      const [last] = runsOfWorker(house.db, worker.id, 1);
      const rebooted = last !== undefined && last.bootId !== house.processes.bootId();
      if (rebooted && !afterBoot) continue;
      // Brought up after its last end, and nobody has started it since; or not to the end.
      const owed = last === undefined || last.generation <= fleetSettingsOf(worker).after || last.reason === GIVEN_BACK;
      if (rebooted || owed) void this.#startAlone(worker.id);
      else if (last.pane !== null) void this.#decide(last, worker);
    }
  }

  stop(): void {
    this.#stopped = true;
    if (this.#timer) clearInterval(this.#timer);
    this.#looks.stop();
    this.panes.close();
    for (const care of this.#cares.all()) clearTimer(care);
  }

  /** Somebody has to be there to start one again. */
  isNeeded(): boolean {
    return this.#cares.all().some(({ timer, starting }) => timer !== null || starting !== null);
  }

  /** What it does for a worker that does not run. */
  stateOf(workerId: number): "starting" | "backing-off" | null {
    const care = this.#cares.ifAny(workerId);
    if (care?.starting) return "starting";
    return care?.timer ? "backing-off" : null;
  }

  /** By somebody's wish: what was counted before is forgotten. Null when it runs already. */
  async bringUp(workerId: number, given: Given): Promise<Started | null> {
    const care = this.#cares.of(workerId);
    await care.starting?.catch(() => null);
    care.resting = false;
    if (this.liveRun(workerId) !== null) return null;
    clearTimer(care);
    care.attempts = NO_ATTEMPTS;
    return this.#start(workerId, given);
  }

  /** It is somebody else's turn: until it is brought up again, nothing is started. */
  async leave(workerId: number): Promise<void> {
    const care = this.#cares.of(workerId);
    clearTimer(care);
    care.resting = true;
    // One that is on its way up is there before it is stopped.
    await care.starting?.catch(() => null);
  }

  /** Inside the change that ends it, while it is still known what it showed last. */
  ending({ id, pane }: Run): void {
    const reason = pane === null ? null : this.#house().sessions.reasonOf(id);
    if (reason !== null) this.#dialogs.set(id, reason);
  }

  /** After the end of a run is on disk. */
  ended(runId: string): void {
    this.#looks.forget(runId);
    const run = runById(this.#house().db, runId);
    const worker = run && workerById(this.#house().db, run.workerId);
    const began = run?.pane != null && run.reason !== GIVEN_BACK;
    const ours = began && worker?.desired === true && worker.retiredMs === null;
    // The machine went down, and the run with it: nobody's crash, and not ours to bring back unasked.
    if (this.#stopped || !ours || run.bootId !== this.#house().processes.bootId()) this.#dialogs.delete(runId);
    else void this.#decide(run, worker);
  }

  async #decide(run: Run, worker: Worker): Promise<void> {
    const house = this.#house();
    const care = this.#cares.of(worker.id);
    if (care.decided === run.id) return;
    care.decided = run.id;
    try {
      const how = await endOf(house, this.panes, run, worker, this.#dialogs.get(run.id));
      this.#dialogs.delete(run.id);
      // By the clock that does not jump, from its start.
      const since = care.attempts.startsAtMs.at(-1);
      const ranMs = since === undefined ? house.now() - run.startedMs : house.monotonicMs() - since;
      if (run.displacedMs !== null && run.stoppedBy === null) {
        await this.#hold(worker, { state: "held", reason: `taken over by ${run.displacedBy ?? "somebody"}` });
      } else await this.#after(worker, { ...how, ranMs });
    } catch (error) {
      care.decided = null; // found again by the next round
      this.#failed(`could not decide about ${run.id}`, error);
    }
  }

  async #after(worker: Worker, end: End): Promise<void> {
    const care = this.#cares.of(worker.id);
    const policy = fleetSettingsOf(worker).restart;
    const after = afterEnd(care.attempts, end, policy, this.#house().monotonicMs(), Math.random(), RULES);
    care.attempts = after.attempts;
    await this.#carryOut(worker, after.verdict, end.exit);
  }

  async #carryOut(worker: Worker, verdict: Verdict, exit: number | null): Promise<void> {
    if (verdict.kind === "leave") return;
    if (verdict.kind !== "again") return this.#hold(worker, { state: verdict.kind, reason: verdict.reason });
    const { inMs } = verdict;
    const house = this.#house();
    const [subject, care] = [{ projectId: worker.projectId, workerId: worker.id }, this.#cares.of(worker.id)];
    await house.writer.write(() => record(house, "worker.backing-off", subject, { inMs: Math.round(inMs), exit }));
    if (this.#stopped || care.resting || workerById(house.db, worker.id)?.desired !== true) return;
    clearTimer(care);
    care.timer = setTimeout(() => {
      care.timer = null;
      void this.#startAlone(worker.id);
    }, inMs);
  }

  /** Nobody asked for this start, so nobody hears of its failure: what it cannot do needs a person. */
  async #startAlone(workerId: number): Promise<void> {
    const house = this.#house();
    const worker = workerById(house.db, workerId);
    if (this.#stopped || worker?.desired !== true || worker.retiredMs !== null) return;
    const environment = worker.environment;
    try {
      const begun = await this.#start(workerId, { command: null, cwd: null, vendor: null, environment, fresh: false });
      if (begun) await house.writer.write(() => countRestart(house.db, workerId));
    } catch (error) {
      if (!isPerdureError(error)) house.log(`could not start ${worker.name}: ${String(error)}`);
      await this.refused(worker, error).catch((why: unknown) => this.#failed(worker.name, why));
    }
  }

  /** It could not be started: said by `ls` until it can, or tried again where that may help. */
  async refused(worker: Worker, error: unknown): Promise<void> {
    if (!isPerdureError(error)) return this.#hold(worker, { state: "held", reason: String(error) });
    // `ls` says why by itself when it cannot come back to its conversation, or when somebody else has the name.
    if (error.details?.unresumable === true || error.code === "held") return;
    if (error.retryable) return this.#after(worker, { exit: null, asked: false, ranMs: 0, held: null, hungUp: true });
    const reason = error.hint ? `${error.message} (${error.hint})` : error.message;
    await this.#hold(worker, { state: "held", reason });
  }

  #start(workerId: number, given: Given): Promise<Started | null> {
    const care = this.#cares.of(workerId);
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
    const care = this.#cares.of(workerId);
    if (workerById(house.db, workerId)?.desired !== true || care.resting) {
      throw new PerdureError("conflict", "It was brought down in the meantime.", { hint: "perdure up" });
    }
    care.attempts = started(care.attempts, house.monotonicMs(), RULES);
    return this.panes.using(() => startInPane(house, this.panes, workerId, given, ready));
  }

  liveRun(workerId: number): Run | null {
    const house = this.#house();
    const worker = workerById(house.db, workerId);
    const run = holderOf(house.db, worker);
    return run !== null && house.watch.processesOf(run).length > 0 ? run : null;
  }

  async #hold(worker: Worker, held: OnHold): Promise<void> {
    const house = this.#house();
    const subject = { projectId: worker.projectId, workerId: worker.id };
    await house.writer.write(() => {
      setOnHold(house.db, worker.id, held);
      record(house, `worker.${held.state}`, subject, { reason: held.reason });
    });
  }
}
