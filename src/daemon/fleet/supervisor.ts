import type { Attention } from "../../core/attention.ts";
import {
  decideRestart,
  NO_ATTEMPTS,
  recordStart,
  type RestartEvidence,
  type RestartDecision,
} from "../../core/restart.ts";
import { RECONCILE_MS, STARTS_AT_ONCE } from "../../limits/index.ts";
import { isPerdureError, PerdureError } from "../../protocol/errors.ts";
import { hintOf, verb } from "../../protocol/hint.ts";
import { failureKind } from "../../store/failure.ts";
import { projectById } from "../../store/projects.ts";
import { countRestart, setOnHold } from "../../store/fleet.ts";
import { holderOf, runById, runsOfWorker, type Run } from "../../store/runs.ts";
import {
  fleetSettingsOf,
  desiredWorkers,
  isTurnWorker,
  workerById,
  type OnHold,
  type Worker,
} from "../../store/workers.ts";
import { KeyedMutex } from "../../util/semaphore.ts";
import { requirePresent } from "../../util/require-present.ts";
import { recordEvent } from "../events.ts";
import type { LaunchServices } from "../launch/services.ts";
import { heldError } from "../names/claim-refusals.ts";
import { isOfThisBoot } from "../runs/elsewhere.ts";
import { SupervisionStates, clearTimer } from "./worker-state.ts";
import { StartBatch } from "./start-batch.ts";
import { exitEvidence } from "./exit-evidence.ts";
import { PanePoll } from "./pane-poll.ts";
import { TmuxHandle } from "./tmux-handle.ts";
import { RESTART_RULES } from "./restart-rules.ts";
import { adoptPanes, clearPane } from "./screens.ts";
import type { StartInput } from "../names/own-start.ts";
import { startInPane, type StartedRun } from "./start-in-pane.ts";

/** The end reason of a run whose start failed; the caller of the start reports why. */
const RELEASED = "released";

/**
 * Keeps the desired workers running. Its knowledge is in the store or found by polling; only the attempts and the starts in
 * progress are in memory, so a daemon that replaces a killed one continues where that one was.
 */
export class FleetSupervisor {
  readonly tmux: TmuxHandle;
  readonly #services: LaunchServices;
  readonly #startBatch = new StartBatch(STARTS_AT_ONCE);
  /** Lets one program per vendor at a time make a conversation. */
  readonly minting = new KeyedMutex();
  readonly #states: SupervisionStates;
  /** The last attention of runs that have ended, until their end is handled. */
  readonly #lastAttentions = new Map<string, Attention>();
  readonly #panePoll: PanePoll;
  #timer: NodeJS.Timeout | null = null;
  #stopped = false;
  #restartsMade = 0;

  constructor(services: LaunchServices) {
    this.#services = services;
    this.#states = new SupervisionStates(services);
    this.tmux = new TmuxHandle(services, (server) => this.#panePoll.start(server));
    this.#panePoll = new PanePoll(services, this.tmux);
  }

  /**
   * Takes the fleet over after the daemon's start. Ends that no daemon saw are handled now; after a reboot the fleet waits
   * for `up`, unless this daemon was started to bring it back.
   */
  async recover(afterBoot: boolean): Promise<void> {
    const services = this.#services;
    const round = (): void => {
      try {
        this.#reconcile(afterBoot);
      } catch (error) {
        this.#reportFailure("the desired workers cannot be read", error);
      }
    };
    if (desiredWorkers(services.db).length > 0) await this.tmux.findLostServer();
    await adoptPanes(services, this.tmux);
    // Ends that no daemon saw are recorded before anything is decided about them.
    await services.runs.pollNow();
    if (this.#stopped) return;
    this.#timer = setInterval(round, RECONCILE_MS).unref();
    round();
  }

  /** Reports a failure of the disk or the store to the daemon; logs any other. */
  #reportFailure(what: string, error: unknown): void {
    const [services, kind] = [this.#services, failureKind(error)];
    return kind === null ? services.log(`${what}: ${String(error)}`) : services.onStoreFailure(kind, error);
  }

  /** Compares the desired workers with the actual ones, and makes up for ends that were missed or could not be handled. */
  #reconcile(afterBoot: boolean): void {
    const services = this.#services;
    for (const worker of desiredWorkers(services.db)) {
      if (isTurnWorker(worker)) continue; // its mail starts it
      const state = this.#states.of(worker.id);
      if (worker.holderRun !== null || worker.onHold !== null || worker.unresumable !== null) continue;
      if (state.timer !== null || state.starting !== null || state.restartsSuspended) continue;
      const [last] = runsOfWorker(services.db, worker.id, 1);
      // A container that was started again is like a machine that was.
      const rebooted = last !== undefined && !isOfThisBoot(services.processes, last);
      if (rebooted && !afterBoot) continue;
      // The worker was brought up after its last run ended, but was not started since, or that start failed.
      const isStartDue =
        last === undefined || last.generation <= fleetSettingsOf(worker).after || last.reason === RELEASED;
      if (rebooted || isStartDue) void this.#startUnattended(worker.id);
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

  /** How many workers were started again, since the daemon's start, without anybody having asked for it. */
  get restartsMade(): number {
    return this.#restartsMade;
  }

  /** Tells whether the daemon has to stay for a start or a restart. */
  hasPendingStarts(): boolean {
    return this.#states.all().some(({ timer, starting }) => timer !== null || starting !== null);
  }

  /** Returns the state of a start in progress, or of one that is to come; null when there is none. */
  stateOf(workerId: number): "starting" | "backing-off" | null {
    const state = this.#states.existing(workerId);
    if (state?.starting) return "starting";
    return state?.timer || state?.isDeciding ? "backing-off" : null;
  }

  /** Starts the worker on request, which clears its attempts. Returns null when it runs already. */
  async bringUp(workerId: number, input: StartInput): Promise<StartedRun | null> {
    const state = this.#states.of(workerId);
    await state.starting?.catch(() => null);
    state.restartsSuspended = false;
    if (this.#liveRunHere(workerId) !== null) return null;
    clearTimer(state);
    state.attempts = NO_ATTEMPTS;
    return this.#start(workerId, input);
  }

  /** Starts nothing for the worker until it is brought up again. */
  async suspendRestarts(workerId: number): Promise<void> {
    const state = this.#states.of(workerId);
    clearTimer(state);
    state.restartsSuspended = true;
    // A start in progress completes before the caller stops the worker.
    await state.starting?.catch(() => null);
  }

  /** Notes, inside the change that ends the run, what the run was blocked by. */
  ending({ id, pane }: Run): void {
    const last = pane === null ? null : this.#services.conversations.lastAttentionOf(id);
    if (last !== null) this.#lastAttentions.set(id, last);
  }

  /** Handles the end of a run, which is on disk. */
  ended(runId: string): void {
    this.#panePoll.forget(runId);
    const run = runById(this.#services.db, runId);
    const worker = run && workerById(this.#services.db, run.workerId);
    const began = run?.pane != null && run.reason !== RELEASED;
    const isSupervised = began && worker?.desired === true && !isTurnWorker(worker) && worker.retiredMs === null;
    // What a person had opened sleeps again.
    if (began && worker && isTurnWorker(worker)) void this.#clearPane(worker);
    // A run that ended with the machine or its container did not crash, and is not brought back unasked.
    if (this.#stopped || !isSupervised || !isOfThisBoot(this.#services.processes, run))
      this.#lastAttentions.delete(runId);
    else void this.#handleEnd(run, worker);
  }

  async #clearPane({ id, name }: Worker): Promise<void> {
    await clearPane(this.#services, this.tmux, id).catch((error: unknown) =>
      this.#services.log(`the pane of ${name}: ${String(error)}`),
    );
  }

  async #handleEnd(run: Run, worker: Worker): Promise<void> {
    const services = this.#services;
    const state = this.#states.of(worker.id);
    if (state.handledRun === run.id) return;
    state.handledRun = run.id;
    const wasStopped = run.stoppedBy !== null || run.displacedMs !== null;
    state.isDeciding = run.exit !== 0 && !wasStopped && fleetSettingsOf(worker).restart !== "never";
    try {
      const evidence = await exitEvidence(services, this.tmux, run, worker, this.#lastAttentions.get(run.id) ?? null);
      this.#lastAttentions.delete(run.id);
      // The monotonic clock counts where the start is known.
      const since = state.attempts.startsAtMs.at(-1);
      const ranMs = since === undefined ? services.now() - run.startedMs : services.monotonicMs() - since;
      if (run.displacedMs !== null && run.stoppedBy === null) {
        await this.#putOnHold(worker, { state: "on-hold", reason: `taken over by ${run.displacedBy ?? "somebody"}` });
      } else if (!evidence.refused) await this.#decideRestart(worker, { ...evidence, ranMs });
    } catch (error) {
      state.handledRun = null; // the next reconciliation tries again
      this.#reportFailure(`the end of ${run.id} could not be handled`, error);
    } finally {
      state.isDeciding = false;
    }
  }

  async #decideRestart(worker: Worker, end: RestartEvidence & { needsLogin?: boolean }): Promise<void> {
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
    await this.#applyDecision(worker, outcome.decision, end);
  }

  async #applyDecision(
    worker: Worker,
    decision: RestartDecision,
    { exit, needsLogin }: Pick<RestartEvidence, "exit"> & { needsLogin?: boolean },
  ): Promise<void> {
    if (decision.kind === "none") return;
    if (decision.kind !== "restart") {
      const { kind: state, reason } = decision;
      const next = hintOf`${verb("up", worker.name)}, then log in there: ${verb("attach", worker.name)}`;
      return this.#putOnHold(worker, { state, reason, ...(state === "on-hold" && needsLogin && { next }) });
    }
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

  /** Starts the worker without a caller to report a failure to: what prevents the start is recorded for a person. */
  async #startUnattended(workerId: number): Promise<void> {
    const services = this.#services;
    const worker = workerById(services.db, workerId);
    if (this.#stopped || worker?.desired !== true || worker.retiredMs !== null) return;
    try {
      const recorded = services.environments.require(worker);
      const input = { command: null, cwd: null, vendor: null, ...recorded, fresh: false };
      const started = await this.#start(workerId, input);
      if (!started) return;
      this.#restartsMade++;
      await services.writer.write(() => countRestart(services.db, workerId));
    } catch (error) {
      if (!isPerdureError(error)) services.log(`could not start ${worker.name}: ${String(error)}`);
      await this.recordRefusal(worker, error).catch((why: unknown) => this.#reportFailure(worker.name, why));
    }
  }

  /** Records a failed start, which `ls` shows until one succeeds, or schedules another where that may help. */
  async recordRefusal(worker: Worker, error: unknown): Promise<void> {
    if (!isPerdureError(error)) return this.#putOnHold(worker, { state: "on-hold", reason: String(error) });
    // `ls` shows by other means that the conversation cannot be resumed, or that the name is held.
    if (error.details?.unresumable === true || error.code === "held") return;
    if (error.retryable)
      return this.#decideRestart(worker, { exit: null, requested: false, ranMs: 0, onHold: null, terminalLost: true });
    const { message: reason, next } = error;
    await this.#putOnHold(worker, { state: "on-hold", reason, ...(next.length > 0 && { next }) });
  }

  #start(workerId: number, input: StartInput): Promise<StartedRun | null> {
    const state = this.#states.of(workerId);
    state.starting ??= this.#startBatch
      .start((ready) => this.#startOnce(workerId, input, ready))
      .finally(() => {
        state.starting = null;
      });
    return state.starting;
  }

  async #startOnce(workerId: number, input: StartInput, ready: () => Promise<void>): Promise<StartedRun | null> {
    const services = this.#services;
    if (this.#liveRunHere(workerId) !== null) return null;
    const state = this.#states.of(workerId);
    const worker = workerById(services.db, workerId);
    if (worker?.desired !== true || state.restartsSuspended) {
      const message = `${worker?.name ?? "The worker"} was brought down while starting.`;
      throw new PerdureError("conflict", message, { hint: verb("up") });
    }
    state.attempts = recordStart(state.attempts, services.monotonicMs(), RESTART_RULES);
    const context = { tmux: this.tmux, minting: this.minting, ready };
    return this.tmux.whileInUse(() => startInPane(services, workerId, input, context));
  }

  liveRun(workerId: number): Run | null {
    const services = this.#services;
    const worker = workerById(services.db, workerId);
    const run = holderOf(services.db, worker);
    return run !== null && services.runs.processesOf(run).length > 0 ? run : null;
  }

  /** Returns the run, if it can be seen from here; throws, with where it is, if it cannot. */
  #liveRunHere(workerId: number): Run | null {
    const services = this.#services;
    const run = this.liveRun(workerId);
    const worker = run && services.runs.isElsewhere(run) ? workerById(services.db, workerId) : null;
    if (run === null || worker === null) return run;
    const project = requirePresent(projectById(services.db, worker.projectId), `project ${worker.projectId}`);
    const because = worker.lease.phase === "displacing" ? "displacing" : "held";
    throw heldError(services, { project, worker, run, processes: services.runs.processesOf(run) }, because);
  }

  async #putOnHold(worker: Worker, onHold: OnHold): Promise<void> {
    const services = this.#services;
    const subject = { projectId: worker.projectId, workerId: worker.id };
    await services.writer.write(() => {
      setOnHold(services.db, worker.id, onHold);
      recordEvent(services, `worker.${onHold.state}`, subject, {
        reason: onHold.reason,
        ...(onHold.next && { next: onHold.next }),
      });
    });
  }
}
