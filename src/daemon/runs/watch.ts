import { rmSync, type FSWatcher } from "node:fs";
import { join } from "node:path";
import { ended as leaseEnded } from "../../core/lease.ts";
import { endReason, exitCode } from "../../core/run-end.ts";
import { awayFrom, look, type Absence } from "../../core/awake-timer.ts";
import {
  CLIENT_ABSENCE_MS,
  RUN_POLL_MS,
  RUN_SETTLE_MS,
  RUN_SETTLE_TRIES,
  RUN_START_GRACE_MS,
} from "../../limits/index.ts";
import { fileNameOf } from "../../protocol/foreign-id.ts";
import { readIfThere } from "../../state/files.ts";
import {
  carriers,
  carriersByRun,
  carries,
  isAlive,
  type ProcessInfo,
  type RunMark,
} from "../../runtime/process/index.ts";
import { aliveRuns, endRun, runById, type Run } from "../../store/runs.ts";
import { retireWorker, setLease, workerById } from "../../store/workers.ts";
import { record, type Ground } from "../services.ts";
import { watchRunFolder } from "./folder.ts";
import { identityOf, START_SCRIPT, type RunListener } from "./identity.ts";
import { Sighting } from "./pid-cache.ts";

interface Tracked {
  run: Run;
  folder: FSWatcher | null;
  /** Seen with the run in its environment: from then on pid and start time alone are not enough. */
  started: boolean;
  /** Until when it may still be the process that claimed, on its way to becoming the wrapper. */
  startingUntil: number;
  sighting: Sighting;
  /** The connections a client is here on; without any it is absent while its process lives. */
  present: Set<object>;
  absence: Absence | null;
}

/** Knows which runs live. Exit files are watched for speed; the poll is what can be relied on. */
export class RunWatch {
  readonly #house: Ground;
  readonly #listener: RunListener;
  readonly #tracked = new Map<string, Tracked>();
  #timer: NodeJS.Timeout | null = null;
  #scan: Map<string, ProcessInfo[]> | null = null;

  constructor(house: Ground, listener: RunListener) {
    this.#house = house;
    this.#listener = listener;
  }

  get size(): number {
    return this.#tracked.size;
  }

  runDir(run: string): string {
    return join(this.#house.paths.runs, fileNameOf(run));
  }

  /** Begins with what the store knows: runs that ended while no daemon was there are ended now. */
  start(): Run[] {
    const rows = aliveRuns(this.#house.db);
    for (const row of rows) this.track(row);
    this.#timer = setInterval(() => void this.lookNow(), RUN_POLL_MS);
    this.#timer.unref();
    void this.lookNow();
    return rows;
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
    for (const tracked of this.#tracked.values()) tracked.folder?.close();
    this.#tracked.clear();
  }

  track(run: Run): void {
    if (this.#tracked.has(run.id)) return;
    const folder = run.kind === "run" ? this.#folderOf(run) : null;
    const since = this.#house.monotonicMs();
    // Of a run that this daemon found in the store: only what is left of its time.
    const ageMs = Math.abs(this.#house.now() - run.startedMs);
    const startingUntil = since + RUN_START_GRACE_MS - ageMs;
    // A client that outlived the daemon has the same time to come back as one that lost its connection.
    const absence = run.kind === "client" ? awayFrom(since) : null;
    const sighting = new Sighting();
    this.#tracked.set(run.id, { run, folder, started: false, startingUntil, sighting, present: new Set(), absence });
  }

  /** Another process holds the name for it from now on: the wrapper that a pane has started. */
  movedTo(run: Run): void {
    const tracked = this.#tracked.get(run.id);
    if (tracked) tracked.run = run;
  }

  /** A client is here, on this connection. */
  arrived(run: string, connection: object): void {
    const tracked = this.#tracked.get(run);
    tracked?.present.add(connection);
    if (tracked) tracked.absence = null;
  }

  /** That connection is gone; the client is away once its last one is. */
  left(run: string, connection: object): void {
    const tracked = this.#tracked.get(run);
    if (!tracked?.present.delete(connection) || tracked.present.size > 0) return;
    tracked.absence = awayFrom(this.#house.monotonicMs());
    this.#settle(run);
  }

  /** The processes that keep this run's name taken; none means it is over. */
  processesOf(run: Run): ProcessInfo[] {
    const { processes } = this.#house;
    if (run.bootId !== processes.bootId()) return [];
    const found = processes.look(run.pid);
    const holder = found?.startedAt === run.processStarted && this.#isStillRun(run, found) ? found : null;
    if (run.kind === "client") return holder ? [holder] : [];
    // The wrapper's end is not the program's end: whoever carries the run in its environment counts.
    return holder ? [holder] : (this.#survivors().get(run.id) ?? []);
  }

  /** One scan serves all who ask in this turn: a fleet that falls together would else be searched for run by run. */
  #survivors(): Map<string, ProcessInfo[]> {
    if (this.#scan === null) setImmediate(() => (this.#scan = null));
    this.#scan ??= carriersByRun(this.#house.processes, this.#house.paths.socket);
    return this.#scan;
  }

  markOf(run: Run): RunMark {
    return { run: run.id, socket: this.#house.paths.socket };
  }

  /** Everything that carries the run, for a takeover that has to stop it all. */
  allProcessesOf(run: Run): ProcessInfo[] {
    return run.bootId === this.#house.processes.bootId() ? carriers(this.#house.processes, this.markOf(run)) : [];
  }

  /** Whether the wrapper has taken over from the Node process that claimed. */
  hasStarted(run: Run): boolean {
    return this.#tracked.get(run.id)?.started ?? true;
  }

  /** Inside a change: writes down how the run ended and frees its name. */
  finish(run: Run, how: "ended" | "released" | "expired" | "replaced" = "ended"): void {
    const { db, processes } = this.#house;
    const current = runById(db, run.id);
    if (current === null || current.endedMs !== null) return;
    const exit = exitCode(readIfThere(join(this.runDir(run.id), "exit")));
    this.#listener.ending(current, exit);
    const reason = endReason({
      exit,
      displaced: current.displacedMs !== null,
      stopped: current.stoppedBy !== null,
      how: how === "replaced" ? "ended" : how,
      client: run.kind === "client",
      rebooted: run.bootId !== processes.bootId(),
    });
    endRun(db, run.id, this.#house.now(), exit, reason);
    const worker = workerById(db, run.workerId);
    if (worker) setLease(db, worker.id, leaseEnded(worker.lease, run.id));
    // Not under the feet of the claim that replaces it.
    if (worker?.ephemeral === true && how !== "replaced") retireWorker(db, worker.id, this.#house.now());
    const subject = { workerId: run.workerId, run: run.id, generation: run.generation };
    record(
      this.#house,
      "run.ended",
      { ...subject, ...(worker ? { projectId: worker.projectId } : {}) },
      { exit, reason },
    );
  }

  /** Inside the change that takes its name away: what it has said until now still counts. */
  lastWords(run: Run): void {
    this.#listener.ending(run, null);
  }

  /** After the change that ended it is on disk. */
  forget(run: string): void {
    this.#tracked.get(run)?.folder?.close();
    this.#tracked.delete(run);
    this.#listener.ended(run);
  }

  /** Between claim and exec the environment is still Node's own; afterwards it must name the run. */
  #isStillRun(run: Run, found: ProcessInfo): boolean {
    if (run.kind === "client") return true;
    const tracked = this.#tracked.get(run.id);
    const now = this.#house.monotonicMs();
    if (tracked?.sighting.certain(found, now)) return true;
    if (carries(this.#house.processes, run.pid, this.markOf(run))) {
      if (tracked) tracked.started = true;
      tracked?.sighting.seen(found, now);
      return true;
    }
    // Not tracked yet: it was claimed earlier in the very commit that asks. And what we start ourselves takes its time.
    if (tracked === undefined || run.pid === process.pid) return true;
    // A claimer that was suspended on its way is late, not gone.
    return !tracked.started && (found.suspended || now < tracked.startingUntil);
  }

  #folderOf(run: Run): FSWatcher | null {
    const heard = (file: string): void => (file === "exit" ? this.#settle(run.id) : this.#listener.heard(run.id));
    return watchRunFolder(this.runDir(run.id), heard, this.#house.log);
  }

  /** The exit file is there, or the connection is gone: the process itself goes a moment later, if it goes. */
  #settle(run: string, tries = RUN_SETTLE_TRIES): void {
    const tracked = this.#tracked.get(run);
    if (!tracked || tries === 0) return;
    if (!isAlive(this.#house.processes, identityOf(tracked.run))) void this.#look(tracked);
    else setTimeout(() => this.#settle(run, tries - 1), RUN_SETTLE_MS).unref();
  }

  /** Looks at every run, and waits until the ends it found are written down: a listing tells what is. */
  async lookNow(): Promise<void> {
    await Promise.all([...this.#tracked.values()].map((tracked) => this.#look(tracked)));
  }

  async #look(tracked: Tracked): Promise<void> {
    try {
      await this.#lookOnce(tracked);
    } catch (error) {
      this.#house.log(`could not look at ${tracked.run.id}: ${String(error)}`);
    }
  }

  async #lookOnce(tracked: Tracked): Promise<void> {
    const processes = this.processesOf(tracked.run);
    if (processes.length === 0) return this.end(tracked.run);
    this.#listener.looked(tracked.run, processes);
    if (tracked.absence === null) return;
    // A suspended client cannot come back, however long that lasts: it is flagged, not robbed.
    if (processes.some(({ suspended }) => suspended)) tracked.absence = awayFrom(this.#house.monotonicMs());
    tracked.absence = look(tracked.absence, this.#house.monotonicMs(), RUN_POLL_MS);
    if (tracked.absence.awakeMs >= 2 * CLIENT_ABSENCE_MS) await this.end(tracked.run, "expired");
  }

  /** If nothing of it is left. A pane that is late, of a daemon that was killed, finds nothing to start any more. */
  async end(run: Run, how: "ended" | "expired" | "replaced" = "ended"): Promise<void> {
    await this.#house.writer.write(() => {
      rmSync(join(this.runDir(run.id), START_SCRIPT), { force: true });
      if (how === "expired" || this.processesOf(run).length === 0) this.finish(run, how);
    });
    if (runById(this.#house.db, run.id)?.endedMs !== null) this.forget(run.id);
  }
}
