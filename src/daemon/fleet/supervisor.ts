import {
  decideRestart,
  NO_ATTEMPTS,
  recordStart,
  type RestartEvidence,
  type RestartDecision,
} from "../../core/restart.ts";
import { RECONCILE_MS, STARTS_AT_ONCE } from "../../limits/index.ts";
import { isPerdureError, PerdureError } from "../../protocol/errors.ts";
import { failureKind } from "../../store/failure.ts";
import { countRestart, setOnHold } from "../../store/fleet.ts";
import { holderOf, runById, runsOfWorker, type Run } from "../../store/runs.ts";
import { fleetSettingsOf, desiredWorkers, workerById, type OnHold, type Worker } from "../../store/workers.ts";
import { KeyedMutex } from "../../util/semaphore.ts";
import { recordEvent } from "../events.ts";
import type { LaunchServices } from "../launch/services.ts";
import { SupervisionStates, clearTimer } from "./worker-state.ts";
import { StartBatch } from "./start-batch.ts";
import { exitEvidence } from "./exit-evidence.ts";
import { PanePoll } from "./pane-poll.ts";
import { TmuxHandle } from "./tmux-handle.ts";
import { RESTART_RULES } from "./restart-rules.ts";
import { adoptPanes } from "./screens.ts";
import { startInPane, type StartInput, type StartedRun } from "./start-in-pane.ts";

/** How the run of a start ends that came to nothing: whoever started it says why. */
const RELEASED = "released";

/**
 * Keeps what is desired running. What it knows of a worker is in the store or found by looking; only the count of attempts
 * and a start under way are its own, so a daemon that was killed in the middle of anything goes on where it was.
 */
export class FleetSupervisor {
  readonly tmux: TmuxHandle;
  readonly #services: LaunchServices;
  readonly #startBatch = new StartBatch(STARTS_AT_ONCE);
  readonly #minting = new KeyedMutex();
  readonly #states: SupervisionStates;
  /** What runs were blocked by when they ended, until it was decided about them. */
  readonly #dialogs = new Map<string, string>();
  readonly #panePoll: PanePoll;
  #timer: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(services: LaunchServices) {
    this.#services = services;
    this.#states = new SupervisionStates(services);
    this.tmux = new TmuxHandle(services.paths, services.log, (server) => this.#panePoll.start(server));
    this.#panePoll = new PanePoll(services, this.tmux);
  }

  /**
   * After the daemon's own start. What died while nobody looked is treated as if somebody had; after a reboot the fleet
   * waits for `up`, unless this daemon was started to bring it back.
   */
  async recover(afterBoot: boolean): Promise<void> {
    const services = this.#services;
    const round = (): void => {
      try {
        this.#reconcile(afterBoot);
      } catch (error) {
        this.#reportFailure("what is desired cannot be read", error);
      }
    };
    await adoptPanes(services, this.tmux);
    // What ended while no daemon was there is on disk before anything is decided about it.
    await services.runs.pollNow();
    if (this.#stopped) return;
    this.#timer = setInterval(round, RECONCILE_MS).unref();
    round();
  }

  /** A disk or a store that failed under us concerns everybody. */
  #reportFailure(what: string, error: unknown): void {
    const [services, kind] = [this.#services, failureKind(error)];
    return kind === null ? services.log(`${what}: ${String(error)}`) : services.onStoreFailure(kind, error);
  }

  /** Desired against actual. Ends are told as they come; this finds what was not told, or could not be done then. */
  #reconcile(afterBoot: boolean): void {
    const services = this.#services;
    for (const worker of desiredWorkers(services.db)) {
      const state = this.#states.of(worker.id);
      if (worker.holderRun !== null || worker.onHold !== null || worker.unresumable !== null) continue;
      if (state.timer !== null || state.starting !== null || state.restartsSuspended) continue;
      const [last] = runsOfWorker(services.db, worker.id, 1);
      const rebooted = last !== undefined && last.bootId !== services.processes.bootId();
      if (rebooted && !afterBoot) continue;
      // Brought up after its last end, and nobody has started it since; or not to the end.
      const owed = last === undefined || last.generation <= fleetSettingsOf(worker).after || last.reason === RELEASED;
      if (rebooted || owed) void this.#startUnattended(worker.id);
      else if (last.pane !== null) void this.#handleEnd(last, worker);
    }
  }

  stop(): void {
    this.#stopped = true;
    if (this.#timer) clearInterval(this.#timer);
    this.#panePoll.stop();
    this.tmux.close();
    for (const state of this.#states.all()) clearTimer(state);
  }

  /** Somebody has to be there to start one again. */
  hasPendingStarts(): boolean {
    return this.#states.all().some(({ timer, starting }) => timer !== null || starting !== null);
  }

  /** What it does for a worker that does not run. */
  stateOf(workerId: number): "starting" | "backing-off" | null {
    const state = this.#states.existing(workerId);
    if (state?.starting) return "starting";
    return state?.timer ? "backing-off" : null;
  }

  /** By somebody's wish: what was counted before is forgotten. Null when it runs already. */
  async bringUp(workerId: number, given: StartInput): Promise<StartedRun | null> {
    const state = this.#states.of(workerId);
    await state.starting?.catch(() => null);
    state.restartsSuspended = false;
    if (this.liveRun(workerId) !== null) return null;
    clearTimer(state);
    state.attempts = NO_ATTEMPTS;
    return this.#start(workerId, given);
  }

  /** It is somebody else's turn: until it is brought up again, nothing is started. */
  async suspendRestarts(workerId: number): Promise<void> {
    const state = this.#states.of(workerId);
    clearTimer(state);
    state.restartsSuspended = true;
    // One that is on its way up is there before it is stopped.
    await state.starting?.catch(() => null);
  }

  /** Inside the change that ends it, while it is still known what it showed last. */
  ending({ id, pane }: Run): void {
    const reason = pane === null ? null : this.#services.conversations.reasonOf(id);
    if (reason !== null) this.#dialogs.set(id, reason);
  }

  /** After the end of a run is on disk. */
  ended(runId: string): void {
    this.#panePoll.forget(runId);
    const run = runById(this.#services.db, runId);
    const worker = run && workerById(this.#services.db, run.workerId);
    const began = run?.pane != null && run.reason !== RELEASED;
    const ours = began && worker?.desired === true && worker.retiredMs === null;
    // The machine went down, and the run with it: nobody's crash, and not ours to bring back unasked.
    if (this.#stopped || !ours || run.bootId !== this.#services.processes.bootId()) this.#dialogs.delete(runId);
    else void this.#handleEnd(run, worker);
  }

  async #handleEnd(run: Run, worker: Worker): Promise<void> {
    const services = this.#services;
    const state = this.#states.of(worker.id);
    if (state.handledRun === run.id) return;
    state.handledRun = run.id;
    try {
      const how = await exitEvidence(services, this.tmux, run, worker, this.#dialogs.get(run.id));
      this.#dialogs.delete(run.id);
      // By the clock that does not jump, from its start.
      const since = state.attempts.startsAtMs.at(-1);
      const ranMs = since === undefined ? services.now() - run.startedMs : services.monotonicMs() - since;
      if (run.displacedMs !== null && run.stoppedBy === null) {
        await this.#putOnHold(worker, { state: "on-hold", reason: `taken over by ${run.displacedBy ?? "somebody"}` });
      } else await this.#decideRestart(worker, { ...how, ranMs });
    } catch (error) {
      state.handledRun = null; // found again by the next round
      this.#reportFailure(`could not decide about ${run.id}`, error);
    }
  }

  async #decideRestart(worker: Worker, end: RestartEvidence): Promise<void> {
    const state = this.#states.of(worker.id);
    const policy = fleetSettingsOf(worker).restart;
    const outcome = decideRestart(
      state.attempts,
      end,
      policy,
      this.#services.monotonicMs(),
      Math.random(),
      RESTART_RULES,
    );
    state.attempts = outcome.attempts;
    await this.#applyDecision(worker, outcome.decision, end.exit);
  }

  async #applyDecision(worker: Worker, decision: RestartDecision, exit: number | null): Promise<void> {
    if (decision.kind === "none") return;
    if (decision.kind !== "restart") return this.#putOnHold(worker, { state: decision.kind, reason: decision.reason });
    const { inMs } = decision;
    const services = this.#services;
    const [subject, state] = [{ projectId: worker.projectId, workerId: worker.id }, this.#states.of(worker.id)];
    await services.writer.write(() =>
      recordEvent(services, "worker.backing-off", subject, { inMs: Math.round(inMs), exit }),
    );
    if (this.#stopped || state.restartsSuspended || workerById(services.db, worker.id)?.desired !== true) return;
    clearTimer(state);
    state.timer = setTimeout(() => {
      state.timer = null;
      void this.#startUnattended(worker.id);
    }, inMs);
  }

  /** Nobody asked for this start, so nobody hears of its failure: what it cannot do needs a person. */
  async #startUnattended(workerId: number): Promise<void> {
    const services = this.#services;
    const worker = workerById(services.db, workerId);
    if (this.#stopped || worker?.desired !== true || worker.retiredMs !== null) return;
    const environment = worker.environment;
    try {
      const begun = await this.#start(workerId, { command: null, cwd: null, vendor: null, environment, fresh: false });
      if (begun) await services.writer.write(() => countRestart(services.db, workerId));
    } catch (error) {
      if (!isPerdureError(error)) services.log(`could not start ${worker.name}: ${String(error)}`);
      await this.recordRefusal(worker, error).catch((why: unknown) => this.#reportFailure(worker.name, why));
    }
  }

  /** It could not be started: said by `ls` until it can, or tried again where that may help. */
  async recordRefusal(worker: Worker, error: unknown): Promise<void> {
    if (!isPerdureError(error)) return this.#putOnHold(worker, { state: "on-hold", reason: String(error) });
    // `ls` says why by itself when it cannot come back to its conversation, or when somebody else has the name.
    if (error.details?.unresumable === true || error.code === "held") return;
    if (error.retryable)
      return this.#decideRestart(worker, { exit: null, requested: false, ranMs: 0, onHold: null, terminalLost: true });
    const reason = error.hint ? `${error.message} (${error.hint})` : error.message;
    await this.#putOnHold(worker, { state: "on-hold", reason });
  }

  #start(workerId: number, given: StartInput): Promise<StartedRun | null> {
    const state = this.#states.of(workerId);
    state.starting ??= this.#startBatch
      .start((ready) => this.#startOnce(workerId, given, ready))
      .finally(() => {
        state.starting = null;
      });
    return state.starting;
  }

  async #startOnce(workerId: number, given: StartInput, ready: () => Promise<void>): Promise<StartedRun | null> {
    const services = this.#services;
    if (this.liveRun(workerId) !== null) return null;
    const state = this.#states.of(workerId);
    if (workerById(services.db, workerId)?.desired !== true || state.restartsSuspended) {
      throw new PerdureError("conflict", "It was brought down in the meantime.", { hint: "perdure up" });
    }
    state.attempts = recordStart(state.attempts, services.monotonicMs(), RESTART_RULES);
    const starter = { tmux: this.tmux, minting: this.#minting, ready };
    return this.tmux.whileInUse(() => startInPane(services, workerId, given, starter));
  }

  liveRun(workerId: number): Run | null {
    const services = this.#services;
    const worker = workerById(services.db, workerId);
    const run = holderOf(services.db, worker);
    return run !== null && services.runs.processesOf(run).length > 0 ? run : null;
  }

  async #putOnHold(worker: Worker, held: OnHold): Promise<void> {
    const services = this.#services;
    const subject = { projectId: worker.projectId, workerId: worker.id };
    await services.writer.write(() => {
      setOnHold(services.db, worker.id, held);
      recordEvent(services, `worker.${held.state}`, subject, { reason: held.reason });
    });
  }
}
