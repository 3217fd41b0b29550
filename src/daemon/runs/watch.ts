import { existsSync, rmSync, type FSWatcher } from "node:fs";
import { join } from "node:path";
import { endLease, hasClientLeaseExpired } from "../../core/lease.ts";
import { endReason, parseExitCode } from "../../core/run-end.ts";
import { startTimer, tick, type AwakeTimer } from "../../core/awake-timer.ts";
import {
  CLIENT_ABSENCE_MS,
  RUN_FILE_BYTES_MAX,
  RUN_POLL_MS,
  RUN_SETTLE_MS,
  RUN_SETTLE_TRIES,
  RUN_START_GRACE_MS,
} from "../../limits/index.ts";
import { fileNameOf } from "../../protocol/foreign-id.ts";
import { isVendorService } from "../../vendors/agents.ts";
import { EXIT_FILE } from "../../runtime/wrapper/script.ts";
import { readIfReadable } from "../../state/bounded-read.ts";
import {
  carriers,
  carriersByRun,
  carries,
  isAlive,
  type ProcessInfo,
  type RunMark,
} from "../../runtime/process/index.ts";
import { unendedRuns, endRun, runById, type Run } from "../../store/runs.ts";
import { retireWorker, setLease, workerById } from "../../store/workers.ts";
import type { BaseServices } from "../base-services.ts";
import { publishRunEvent, recordEvent } from "../events.ts";
import { holderElsewhere, isOfOtherNamespace, isOfThisBoot, isOnlyRecorded, recordedHolder } from "./elsewhere.ts";
import { FifoPool } from "./fifo-pool.ts";
import { identityOf, START_SCRIPT } from "./identity.ts";
import { PidCache } from "./pid-cache.ts";
import { watchRunFolder } from "./watch-folder.ts";

/** Listens to the stages of a run's life, which are listed in order. The listener is the daemon's RunLifecycle. */
export interface RunListener {
  /** The daemon has found a living run of an earlier daemon in the store. */
  adopted(run: Run): void;
  /** The claim is on disk; the claimer is about to become the wrapper. */
  claimed(run: Run): void;
  /** The vendor has made a conversation for the claimed run, before its start. */
  bound(run: Run): void;
  /** A pane has started the wrapper: another process than the claimer holds the name from now on. */
  started(run: Run): void;
  /** A poll found the run alive, in these processes. */
  polled(run: Run, live: ProcessInfo[]): void;
  /** A file other than the exit code appeared in the run's folder. */
  hookFile(run: string): void;
  /** The wrapper has left the exit code of its program, and may still wait for a verdict. */
  exited(run: string): void;
  /** No process of the run is left; its end is published after this. */
  gone(run: Run): Promise<void>;
  /** The run ends, or loses its name, in the change that calls this. */
  ending(run: Run, exit: number | null): void;
  /** The change that ended the run is on disk. */
  ended(run: string): void;
}

interface Tracked {
  run: Run;
  folderWatcher: FSWatcher | null;
  /** The process was seen with the run in its environment; from then on pid and start time alone are not enough. */
  started: boolean;
  /** A process of the run was found here: a run without a recorded namespace is one of this namespace. */
  seenHere: boolean;
  /** The monotonic time until which the holder may still be the claimer, about to become the wrapper. */
  startingUntil: number;
  pidCache: PidCache;
  /** The connections of a client; a client without any is absent, though its process lives. */
  connections: Set<object>;
  absence: AwakeTimer | null;
  /** The end that a poll has found and that is being recorded; the next poll waits for it, and begins no other. */
  ending: Promise<void> | null;
}

/** Knows which runs are alive. Exit files are watched for speed; polling is what it relies on. */
export class RunWatch {
  readonly #services: BaseServices;
  #listener: RunListener | null = null;
  readonly #tracked = new Map<string, Tracked>();
  #timer: NodeJS.Timeout | null = null;
  #scans: Partial<Record<"survivors" | "remnants", Map<string, ProcessInfo[]>>> = {};
  readonly fifos: FifoPool;

  constructor(services: BaseServices) {
    this.#services = services;
    this.fifos = new FifoPool(services);
  }

  /** Sets the listener; has to be called before the first run is tracked. */
  subscribe(listener: RunListener): void {
    this.#listener = listener;
  }

  /** Every stage is told: a daemon that forgot to subscribe would lose ends and restarts in silence. */
  get #lifecycle(): RunListener {
    if (this.#listener === null) throw new Error("nobody has subscribed to the life of runs");
    return this.#listener;
  }

  get size(): number {
    return this.#tracked.size;
  }

  runDir(run: string): string {
    return join(this.#services.paths.runs, fileNameOf(run));
  }

  /** Begins with the runs in the store; those that ended while no daemon was running are ended now. */
  start(): void {
    for (const run of unendedRuns(this.#services.db)) {
      this.#track(run);
      this.#lifecycle.adopted(run);
    }
    this.#timer = setInterval(() => void this.pollNow(), RUN_POLL_MS);
    this.#timer.unref();
    void this.pollNow();
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
    for (const tracked of this.#tracked.values()) tracked.folderWatcher?.close();
    this.#tracked.clear();
  }

  /** Tracks a run whose claim is on disk. */
  claimed(run: Run, replaced: string | null): void {
    if (replaced !== null) this.untrack(replaced);
    this.#track(run).seenHere = true;
    this.#lifecycle.claimed(run);
  }

  /** Reports that the conversation which the vendor made for the run is on disk. */
  bound(run: Run): void {
    this.#lifecycle.bound(run);
  }

  #track(run: Run): Tracked {
    const known = this.#tracked.get(run.id);
    if (known) return known;
    const folderWatcher = run.kind === "run" ? this.#watchFolder(run) : null;
    const since = this.#services.monotonicMs();
    // A run found in the store has only the rest of its time.
    const startingUntil = since + RUN_START_GRACE_MS - Math.abs(this.#services.now() - run.startedMs);
    // A client that outlived the daemon has as much time to reconnect as one that lost its connection.
    const absence = run.kind === "client" ? startTimer(since) : null;
    const tracked: Tracked = {
      run,
      folderWatcher,
      started: false,
      seenHere: false,
      startingUntil,
      pidCache: new PidCache(),
      connections: new Set(),
      absence,
      ending: null,
    };
    this.#tracked.set(run.id, tracked);
    return tracked;
  }

  /** Records that another process holds the name for the run: the wrapper that a pane has started. */
  setHolder(run: Run): void {
    const tracked = this.#tracked.get(run.id);
    if (tracked) tracked.run = run;
    this.#lifecycle.started(run);
  }

  /** Records that a client is present on this connection. */
  clientConnected(run: string, connection: object): void {
    const tracked = this.#tracked.get(run);
    tracked?.connections.add(connection);
    if (tracked) tracked.absence = null;
  }

  /** Records that the connection is closed; a client is absent once its last one is. */
  clientDisconnected(run: string, connection: object): void {
    const tracked = this.#tracked.get(run);
    if (!tracked?.connections.delete(connection) || tracked.connections.size > 0) return;
    tracked.absence = startTimer(this.#services.monotonicMs());
    this.#endSoon(run);
  }

  /**
   * Returns the processes that hold the run's name; without any the run has ended. A run that cannot be seen from here, and that
   * may live, is held by the process on record.
   */
  processesOf(run: Run): ProcessInfo[] {
    const { processes } = this.#services;
    if (run.bootId !== processes.bootId()) return [];
    if (isOfOtherNamespace(processes, run)) return holderElsewhere(processes, run, this.runDir(run.id));
    const found = this.#processesHere(run);
    const tracked = this.#tracked.get(run.id);
    if (tracked && found.length > 0) tracked.seenHere = true;
    return found.length === 0 && this.#mayBeElsewhere(run, tracked) ? [recordedHolder(run)] : found;
  }

  /** Tells whether a run of an older perdure, which did not record its namespace, may live in another one. */
  #mayBeElsewhere(run: Run, tracked: Tracked | undefined): boolean {
    if (run.namespace !== null || tracked === undefined || tracked.seenHere) return false;
    if (existsSync(join(this.runDir(run.id), EXIT_FILE))) return false;
    const { processes } = this.#services;
    return !processes.seesEveryNamespace() || processes.withVariable("PERDURE_RUN", run.id).length > 0;
  }

  /** Tells whether the run lives, as far as anybody knows, where its processes cannot be seen. */
  isElsewhere(run: Run): boolean {
    return this.processesOf(run).some((each) => isOnlyRecorded(this.#services.processes, each));
  }

  #processesHere(run: Run): ProcessInfo[] {
    const { processes } = this.#services;
    const found = processes.inspect(run.pid);
    const holder = found?.startedAt === run.processStarted && this.#isStillRun(run, found) ? found : null;
    // The program may outlive its wrapper: every process with the run in its environment counts.
    return holder ? [holder] : run.kind === "client" ? [] : this.survivorsOf(run);
  }

  /** Leaves out the vendors' background services: started from inside a run, they carry it, and would keep its name for ever. */
  #withoutServices(found: readonly ProcessInfo[]): ProcessInfo[] {
    return found.filter(({ pid }) => !isVendorService(this.#services.processes.argv(pid)));
  }

  /** Returns what the run's wrapper has left behind. One scan serves all who ask in one turn of the event loop, as when a fleet falls. */
  survivorsOf(run: Run): ProcessInfo[] {
    if (!isOfThisBoot(this.#services.processes, run)) return [];
    return this.#withoutServices((this.#scans.survivors ??= this.#scan(2)).get(run.id) ?? []);
  }

  #scan(scans: number): Map<string, ProcessInfo[]> {
    setImmediate(() => (this.#scans = {}));
    return carriersByRun(this.#services.processes, this.#services.paths.socket, scans);
  }

  /** Returns the processes of a run whose wrapper waits for the verdict on its end; the scan is shared by all that end together. */
  processesAtEnd(run: Run): ProcessInfo[] {
    if (!isOfThisBoot(this.#services.processes, run)) return [];
    const scan = this.#scans.survivors ?? (this.#scans.remnants ??= this.#scan(1));
    return this.#withoutServices(scan.get(run.id) ?? []);
  }

  markOf(run: Run): RunMark {
    return { run: run.id, socket: this.#services.paths.socket };
  }

  /** Returns all processes of the run, because a takeover has to stop them all; not a service that others use, too. */
  allProcessesOf(run: Run): ProcessInfo[] {
    if (!isOfThisBoot(this.#services.processes, run)) return [];
    return this.#withoutServices(carriers(this.#services.processes, this.markOf(run)));
  }

  /** Tells whether the wrapper has replaced the Node process that claimed. */
  hasStarted(run: Run): boolean {
    return this.#tracked.get(run.id)?.started ?? true;
  }

  /** Records, inside a change, how the run ended, and frees its name. */
  recordEnd(run: Run, how: "ended" | "released" | "expired" | "replaced" = "ended"): void {
    const { db, processes } = this.#services;
    const current = runById(db, run.id);
    if (current === null || current.endedMs !== null) return;
    const exit = parseExitCode(readIfReadable(join(this.runDir(run.id), EXIT_FILE), RUN_FILE_BYTES_MAX));
    this.#lifecycle.ending(current, exit);
    const reason = endReason({
      exit,
      displaced: current.displacedMs !== null,
      stopped: current.stoppedBy !== null,
      how: how === "replaced" ? "ended" : how,
      client: run.kind === "client",
      rebooted: run.bootId !== processes.bootId(),
    });
    endRun(db, run.id, this.#services.now(), exit, reason);
    const worker = workerById(db, run.workerId);
    if (worker) setLease(db, worker.id, endLease(worker.lease, run.id));
    // The replacing claim still needs this worker.
    if (worker?.ephemeral === true && how !== "replaced") retireWorker(db, worker.id, this.#services.now());
    const project = worker ? { projectId: worker.projectId } : {};
    const subject = { workerId: run.workerId, run: run.id, generation: run.generation, ...project };
    recordEvent(this.#services, "run.ended", subject, { exit, reason });
  }

  /** Tells the listener, inside the change that takes the run's name away; the run's signs up to now still count. */
  notifyEnding(run: Run): void {
    this.#lifecycle.ending(run, null);
  }

  /** Stops tracking a run whose end is on disk. */
  untrack(run: string): void {
    this.#tracked.get(run)?.folderWatcher?.close();
    this.#tracked.delete(run);
    this.#lifecycle.ended(run);
  }

  /** Tells whether the process is the run's. Between claim and exec its environment is still Node's; then it must name the run. */
  #isStillRun(run: Run, found: ProcessInfo): boolean {
    if (run.kind === "client") return true;
    const tracked = this.#tracked.get(run.id);
    const now = this.#services.monotonicMs();
    if (tracked?.pidCache.isConfirmed(found, now)) return true;
    if (carries(this.#services.processes, run.pid, this.markOf(run))) {
      if (tracked) tracked.started = true;
      tracked?.pidCache.confirm(found, now);
      return true;
    }
    // A run that is not tracked yet was claimed earlier in this very change; the daemon itself holds runs it is starting.
    if (tracked === undefined || run.pid === process.pid) return true;
    // A claimer that was suspended before exec is late, not gone.
    return !tracked.started && (found.suspended || now < tracked.startingUntil);
  }

  #watchFolder(run: Run): FSWatcher | null {
    const exited = (): void => {
      this.#lifecycle.exited(run.id);
      this.#endSoon(run.id);
    };
    const hookFile = (): void => this.#lifecycle.hookFile(run.id);
    return watchRunFolder(this.runDir(run.id), { exited, hookFile }, this.#services.log);
  }

  /** Checks for the end of the process, which follows its exit file or its closed connection a moment later, if at all. */
  #endSoon(run: string, tries = RUN_SETTLE_TRIES): void {
    const tracked = this.#tracked.get(run);
    if (!tracked || tries === 0) return;
    if (!isAlive(this.#services.processes, identityOf(tracked.run))) void this.#poll(tracked);
    else setTimeout(() => this.#endSoon(run, tries - 1), RUN_SETTLE_MS).unref();
  }

  /** Polls every run and waits until the ends it found are recorded, so that a listing is up to date. */
  async pollNow(): Promise<void> {
    await Promise.all([...this.#tracked.values()].flatMap((tracked) => this.#poll(tracked) ?? []));
  }

  /** Polls one run; returns what is left to be awaited, which in nearly every poll is nothing. */
  #poll(tracked: Tracked): Promise<void> | null {
    const failed = (error: unknown): void => this.#services.log(`could not poll ${tracked.run.id}: ${String(error)}`);
    try {
      return this.#pollOnce(tracked)?.catch(failed) ?? null;
    } catch (error) {
      failed(error);
      return null;
    }
  }

  #pollOnce(tracked: Tracked): Promise<void> | null {
    const processes = this.processesOf(tracked.run);
    // To end it may take longer than to the next poll, as when a program has to be asked how long its conversation is.
    if (processes.length === 0)
      return (tracked.ending ??= this.endIfGone(tracked.run).finally(() => (tracked.ending = null)));
    this.#lifecycle.polled(tracked.run, processes);
    if (tracked.run.kind === "run" && !existsSync(this.runDir(tracked.run.id))) return this.#restoreFolder(tracked);
    return tracked.absence === null ? null : this.#tickAbsence(tracked, tracked.absence, processes);
  }

  async #tickAbsence(tracked: Tracked, before: AwakeTimer, processes: readonly ProcessInfo[]): Promise<void> {
    // A suspended client cannot reconnect, however long that lasts: it keeps its name and is flagged. One in another
    // namespace may be suspended.
    const mayBeSuspended = (each: ProcessInfo): boolean =>
      each.suspended || isOnlyRecorded(this.#services.processes, each);
    const absence = processes.some(mayBeSuspended) ? startTimer(this.#services.monotonicMs()) : before;
    tracked.absence = tick(absence, this.#services.monotonicMs(), RUN_POLL_MS);
    if (hasClientLeaseExpired(tracked.absence, CLIENT_ABSENCE_MS)) await this.endIfGone(tracked.run, "expired");
  }

  /**
   * Makes the folder of a live run again if it was removed, so that its exit code will be found. The agent's hooks lay in it: what
   * they would report is missed until the next start, and that is told.
   */
  async #restoreFolder(tracked: Tracked): Promise<void> {
    const folder = this.runDir(tracked.run.id);
    this.#services.log(`${folder} was removed; it is made again, without the agent's hooks`);
    tracked.folderWatcher?.close();
    tracked.folderWatcher = this.#watchFolder(tracked.run);
    await publishRunEvent(this.#services, tracked.run, "run.folder-lost", { folder });
  }

  /** Ends the run if no process of it is left. A late pane of a killed daemon then finds no script to start. */
  async endIfGone(run: Run, how: "ended" | "expired" | "replaced" = "ended"): Promise<void> {
    if (run.kind === "run" && this.processesOf(run).length === 0) await this.#lifecycle.gone(run);
    await this.#services.writer.write(() => {
      rmSync(join(this.runDir(run.id), START_SCRIPT), { force: true, recursive: true });
      if (how === "expired" || this.processesOf(run).length === 0) this.recordEnd(run, how);
    });
    if (runById(this.#services.db, run.id)?.endedMs !== null) this.untrack(run.id);
  }
}
