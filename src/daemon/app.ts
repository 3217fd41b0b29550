import { existsSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { DAEMON_IDLE_EXIT_MS } from "../limits/index.ts";
import { exitCodeOf, type PerdureError } from "../protocol/errors.ts";
import { processTable } from "../runtime/process/index.ts";
import { detectWrapperForm, type WrapperForm } from "../runtime/wrapper/script.ts";
import { isErrno, isQuotaUsedUp, writeFileAtomic } from "../state/files.ts";
import { readProjectsIndex } from "../state/projects-file.ts";
import type { StatePaths } from "../state/paths.ts";
import { recordCopied } from "../store/meta.ts";
import { checkStore } from "../store/check.ts";
import { failureError, failureKind, type FailureKind } from "../store/failure.ts";
import type { Db } from "../store/db.ts";
import { closeStore, openStore, setAside } from "../store/open.ts";
import { Writer } from "../store/writer.ts";
import { StorePlace } from "../store/place.ts";
import { rescueStore } from "../store/rescue.ts";
import type { RecordedEnvironments } from "./environments.ts";
import { OwnFiles } from "./own-files.ts";
import { removeDaemonFile } from "./server/daemon-file.ts";
import { logLine } from "./server/log.ts";
import { runRetention, scheduleRetention } from "./retention.ts";
import { publishProjects } from "./names/projects-index.ts";
import { HighWater } from "./server/high-water.ts";
import { IdleMemory } from "./server/idle-memory.ts";
import { liveRunsEverywhere } from "./server/live-runs.ts";
import { Records } from "./export/records.ts";
import { replaceStore } from "./server/replace-store.ts";
import { DaemonServer } from "./server/socket.ts";
import { assembleServices } from "./assemble.ts";
import type { BaseServices } from "./base-services.ts";
import type { Lock } from "./server/lock.ts";
import type { Services } from "./services.ts";

export interface DaemonOptions {
  /** The daemon was started by the user's systemd, so that it runs from boot on and brings the fleet back. */
  isService: boolean;
  /** The daemon begins with an empty store; an existing one is set aside. */
  newStore: boolean;
}

/** perdured: opens the store, recovers, serves, drains. */
export class Daemon {
  readonly #paths: StatePaths;
  readonly #lock: Lock;
  readonly #isService: boolean;
  readonly #services: Services;
  readonly #server: DaemonServer;
  readonly #place: StorePlace;
  readonly #ownFiles: OwnFiles;
  readonly #idleMemory = new IdleMemory();
  readonly #startedAtMs = performance.now();
  #storeCheck: "pending" | "ok" | "not-needed" = "not-needed";
  #idleTimer: NodeJS.Timeout | null = null;
  #isShuttingDown = false;
  #isLeaving = false;

  constructor(paths: StatePaths, lock: Lock, { isService, newStore: beginAnew }: DaemonOptions) {
    this.#paths = paths;
    this.#lock = lock;
    this.#isService = isService;
    const ranSinceBackup = replaceStore(paths, beginAnew);
    const { db, unclean } = openStore(paths.database, {
      startEmpty: beginAnew,
      namesKnown: Object.keys(readProjectsIndex(paths.projectsFile)).length > 0,
      liveRuns: () => liveRunsEverywhere(paths),
    });
    const place = new StorePlace(paths.database);
    this.#place = place;
    const highWater = this.#setAsideIfDamaged(db, () => HighWater.open(paths.highWater, db));
    if (highWater.isCopy) {
      const at = new Date(recordCopied(db)).toISOString();
      logLine(
        `this state folder is a copy, put here after its last change at ${at}: nothing that happened since is in it`,
      );
    }
    const listeners = new Set<() => void>([() => highWater.update(db)]);
    let wrapper: WrapperForm | undefined;
    const base: Omit<BaseServices, "environments"> = {
      paths,
      db,
      writer: new Writer(db, {
        beforeAck: () => place.check(),
        isQuotaUsedUp: () => isQuotaUsedUp(paths.dir),
        onCommit: () => {
          for (const listener of listeners) listener();
        },
        onFailure: (kind, error) => this.#onStoreFailure(kind, error),
      }),
      processes: processTable(),
      host: hostname(),
      wrapper: () => (wrapper ??= detectWrapperForm()),
      now: Date.now,
      monotonicMs: () => performance.now(),
      log: logLine,
      onStoreFailure: (kind, error) => this.#onStoreFailure(kind, error),
      onCommit(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    };
    this.#services = assembleServices(base);
    this.#setAsideIfDamaged(db, () => takeOut(this.#services.environments));
    if (unclean) this.#storeCheck = "pending";
    this.#server = new DaemonServer({
      services: this.#services,
      stopDaemon: () => setImmediate(() => void this.shutDown(0)),
      stats: () => ({
        connections: this.#server.connections,
        startedAtMs: this.#startedAtMs,
        storeCheck: this.#storeCheck,
        ranSinceBackup,
      }),
    });
    this.#ownFiles = new OwnFiles({
      services: this.#services,
      place,
      lock,
      server: this.#server,
      highWater,
      leave: (why) => this.#leave(why),
    });
  }

  async serve(): Promise<void> {
    this.#recover();
    await this.#server.listen(this.#paths.socket);
    this.#ownFiles.start();
    this.#idleMemory.start();
    this.#services.fleet
      .recover(this.#isService)
      .catch((error: unknown) => this.#onStoreFailure(failureKind(error) ?? "io", error));
    scheduleRetention(this.#services);
    runRetention(this.#services);
    if (this.#storeCheck === "pending") void this.#checkAfterCrash();
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => void this.shutDown(0));
    this.#server.onQuiet(() => this.#scheduleIdleExit());
    this.#scheduleIdleExit();
  }

  #recover(): void {
    this.#setAsideIfDamaged(this.#services.db, () => {
      this.#services.runs.start();
      publishProjects(this.#services);
      new Records(this.#services).start();
      this.#services.mail.start();
      this.#services.droppedMail.start();
      this.#services.turns.start();
      this.#services.notifier.start();
    });
  }

  /** Sets the store aside if it proves to be damaged before any client was served. */
  #setAsideIfDamaged<T>(db: Db, act: () => T): T {
    try {
      return act();
    } catch (error) {
      if (failureKind(error) !== "damaged") throw error;
      db.close();
      throw setAside(this.#paths.database, error);
    }
  }

  /** Answers the calls in progress, commits everything, then gives up the socket and the lock. */
  async shutDown(code: number): Promise<void> {
    if (this.#isShuttingDown) return;
    this.#isShuttingDown = true;
    this.#ownFiles.stop();
    this.#idleMemory.stop();
    this.#server.stopListening();
    removeDaemonFile(this.#paths.daemonFile);
    try {
      await this.#server.drain();
      this.#services.notifier.stop();
      this.#services.fleet.stop();
      this.#services.turns.stop();
      this.#services.runs.stop();
      this.#services.conversations.stop();
      this.#services.couriers.stop();
      this.#services.droppedMail.stop();
      this.#services.mail.stop();
      if (code === 0) this.#closeStore();
    } catch (error) {
      logLine(`while shutting down: ${String(error)}`);
    }
    this.#lock.release();
    process.exit(code);
  }

  #closeStore(): void {
    this.#services.writer.close();
    closeStore(this.#services.db);
  }

  async #checkAfterCrash(): Promise<void> {
    try {
      const afterIoError = existsSync(this.#paths.ioErrorMark);
      const result = await checkStore(this.#paths.database, afterIoError ? "integrity_check" : "quick_check");
      if (!result.ok) return this.#onStoreFailure("damaged", new Error(result.problems.join("; ")));
      this.#storeCheck = "ok";
      rmSync(this.#paths.ioErrorMark, { force: true });
    } catch (error) {
      logLine(`the store could not be checked: ${String(error)}`);
    }
  }

  /** Survives a full disk. After an I/O error or damage the daemon cannot trust what it has in memory, and exits. */
  #onStoreFailure(kind: FailureKind, error: unknown): void {
    if (kind === "gone") return this.#onStoreGone(error);
    logLine(`store: ${kind}: ${String(error)}`);
    if (kind === "disk-full") return;
    this.#services.writer.refuse(failureError(kind, error));
    if (kind === "damaged") logLine(setAside(this.#paths.database, error).message);
    else this.#markIoError();
    setImmediate(() => void this.shutDown(7));
  }

  /** Leaves a store that was removed, replaced or moved, once what it holds is where it will be found. */
  #onStoreGone(error: unknown): void {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    logLine(`store: gone: ${String(error)}`);
    this.#services.writer.refuse(failureError("gone", error));
    void this.#rescueAndLeave();
  }

  async #rescueAndLeave(): Promise<void> {
    const { db, processes } = this.#services;
    try {
      const rescue = await rescueStore(db, this.#place, processes.openFiles(process.pid));
      logLine(`the store that is gone: ${JSON.stringify(rescue ?? "it knew no names")}`);
    } catch (error) {
      logLine(`what the store held could not be saved: ${String(error)}`);
    }
    await this.shutDown(exitCodeOf("damaged"));
  }

  #leave(why: PerdureError): void {
    logLine(why.message);
    this.#services.writer.refuse(why);
    void this.shutDown(exitCodeOf(why.code));
  }

  #markIoError(): void {
    try {
      writeFileAtomic(this.#paths.ioErrorMark, "");
    } catch (error) {
      logLine(`the mark of an I/O error could not be written: ${String(error)}`);
    }
  }

  #hasPendingStarts(): boolean {
    return this.#services.fleet.hasPendingStarts() || this.#services.turns.hasPendingStarts();
  }

  #scheduleIdleExit(): void {
    if (this.#isService) return;
    if (this.#idleTimer) clearTimeout(this.#idleTimer);
    const idleMs = Number(process.env.PERDURE_IDLE_EXIT_MS) || DAEMON_IDLE_EXIT_MS;
    this.#idleTimer = setTimeout(() => {
      if (this.#server.connections > 0 || this.#services.runs.size > 0 || this.#hasPendingStarts())
        this.#scheduleIdleExit();
      else void this.shutDown(0);
    }, idleMs);
  }
}

/** A full disk is no reason not to serve: the next daemon tries again, and until then nobody can use what is in the store. */
function takeOut(environments: RecordedEnvironments): void {
  try {
    environments.takeOutOfStore();
  } catch (error) {
    if (failureKind(error) !== "disk-full" && !isErrno(error, "ENOSPC", "EDQUOT")) throw error;
    logLine(`environments could not be moved out of the store: ${String(error)}`);
  }
}
