import { existsSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { lockOrYield, lockPatiently, type Lock } from "./daemon/server/lock.ts";
import { announce, tellStarter } from "./daemon/server/daemon-file.ts";
import { boundLog, logLine } from "./daemon/server/log.ts";
import { clearOld, keepBounds } from "./daemon/server/retention.ts";
import { publishProjects } from "./daemon/names/projects-index.ts";
import { RunWatch } from "./daemon/runs/watch.ts";
import { Custody } from "./daemon/custody/custody.ts";
import { HighWater } from "./daemon/server/high-water.ts";
import { MailClock } from "./daemon/mail/clock.ts";
import { Mail } from "./daemon/mail/runtime.ts";
import { returnOffers } from "./daemon/mail/transition.ts";
import { Records } from "./daemon/export/records.ts";
import { replaceStore } from "./daemon/server/replace-store.ts";
import { SessionWatch } from "./daemon/conversations/tracker.ts";
import { DaemonServer } from "./daemon/server/socket.ts";
import { SuspendedWatch } from "./daemon/runs/suspended.ts";
import { stopRun } from "./daemon/runs/stop.ts";
import { Supervisor } from "./daemon/fleet/supervisor.ts";
import type { Ground, House } from "./daemon/services.ts";
import { DAEMON_IDLE_EXIT_MS, TAKEOVER_TERM_WAIT_MS } from "./limits/index.ts";
import { asPerdureError } from "./protocol/errors.ts";
import { processTable } from "./runtime/process/index.ts";
import { detectWrapperForm, type WrapperForm } from "./runtime/wrapper/script.ts";
import { writeFileAtomic } from "./state/files.ts";
import { readProjectsIndex } from "./state/projects-file.ts";
import { statePaths, type StatePaths } from "./state/paths.ts";
import { makeSafeFolder } from "./state/safe-folder.ts";
import { checkStore } from "./store/check.ts";
import { failureError, failureKind, type FailureKind } from "./store/failure.ts";
import type { Db } from "./store/db.ts";
import { closeStore, openStore, setAside } from "./store/open.ts";
import { Writer } from "./store/writer.ts";

// perdured: lock, open, recover, serve, drain.

/** Started by the user's systemd: there from boot on, for the fleet. */
const SERVICE = process.argv.includes("--service");

async function main(): Promise<void> {
  process.umask(0o077);
  const paths = statePaths(process.env);
  for (const folder of [paths.dir, paths.runs, dirname(paths.log), dirname(paths.socket)]) makeSafeFolder(folder);
  const lock = SERVICE ? await lockPatiently(paths.lock) : await lockOrYield(paths.lock, paths.socket);
  if (lock === null) return tellStarter({ taken: true });
  boundLog(paths.log);
  const daemon = new Daemon(paths, lock);
  await daemon.serve();
  tellStarter({ ready: true, pid: process.pid });
}

class Daemon {
  readonly #paths: StatePaths;
  readonly #lock: Lock;
  readonly #house: House;
  readonly #server: DaemonServer;
  readonly #startedAtMs = performance.now();
  #storeCheck: "pending" | "ok" | "not-needed" = "not-needed";
  #idleTimer: NodeJS.Timeout | null = null;
  #leaving = false;

  constructor(paths: StatePaths, lock: Lock) {
    this.#paths = paths;
    this.#lock = lock;
    const beginAnew = process.argv.includes("--new-store");
    replaceStore(paths, beginAnew);
    const { db, unclean } = openStore(paths.database, {
      beginAnew,
      namesKnown: Object.keys(readProjectsIndex(paths.projectsFile)).length > 0,
    });
    const mark = this.#orSetAside(db, () => HighWater.of(paths.highWater, db));
    const listeners = new Set<() => void>([() => mark.note(db)]);
    let wrapper: WrapperForm | undefined;
    const base: Ground = {
      paths,
      db,
      writer: new Writer(db, {
        onCommit: () => {
          for (const listener of listeners) listener();
        },
        onFailure: (kind, error) => this.#onStoreFailure(kind, error),
      }),
      processes: processTable(),
      host: hostname(),
      stopping: new Map(),
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
    const suspended = new SuspendedWatch(() => this.#house);
    const watch: RunWatch = new RunWatch(base, {
      heard: (run) => this.#house.sessions.heard(run),
      ending: (run, exit) => {
        this.#house.fleet.ending(run);
        this.#house.sessions.conclude(run, exit);
        returnOffers(this.#house, run.id);
        this.#house.mail.tellAskers(run.workerId);
      },
      looked: (run, live) => suspended.looked(run, live),
      ended: (run) => {
        suspended.ended(run);
        this.#house.sessions.ended(run);
        this.#house.fleet.ended(run);
      },
    });
    const custody = new Custody(base);
    const mail = new Mail(base, new MailClock(base));
    const sessions = new SessionWatch({ ...base, watch, custody, mail });
    const fleet = new Supervisor(() => this.#house, paths, logLine);
    this.#house = { ...base, watch, sessions, custody, mail, fleet };
    if (unclean) this.#storeCheck = "pending";
    this.#server = new DaemonServer({
      house: this.#house,
      stopDaemon: () => setImmediate(() => void this.leave(0)),
      stats: () => ({
        connections: this.#server.connections,
        startedAtMs: this.#startedAtMs,
        storeCheck: this.#storeCheck,
      }),
    });
  }

  async serve(): Promise<void> {
    this.#recover();
    await this.#server.listen(this.#paths.socket);
    announce(this.#house);
    this.#house.fleet
      .recover(SERVICE)
      .catch((error: unknown) => this.#onStoreFailure(failureKind(error) ?? "io", error));
    keepBounds(this.#house);
    clearOld(this.#house);
    if (this.#storeCheck === "pending") void this.#checkAfterCrash();
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => void this.leave(0));
    this.#server.onQuiet(() => this.#waitIdle());
    this.#waitIdle();
  }

  #recover(): void {
    this.#orSetAside(this.#house.db, () => {
      for (const run of this.#house.watch.start()) {
        // What the last daemon was about to stop is stopped by this one.
        if (run.displacedMs !== null || run.stoppedBy !== null) void this.#finishStop(run);
        this.#house.sessions.follow(run, true);
      }
      publishProjects(this.#house);
      new Records(this.#house).start();
      this.#house.mail.start();
    });
  }

  /** What is found to be damaged before anybody was served is put out of the way. */
  #orSetAside<T>(db: Db, act: () => T): T {
    try {
      return act();
    } catch (error) {
      if (failureKind(error) !== "damaged") throw error;
      db.close();
      throw setAside(this.#paths.database, error);
    }
  }

  /** Answers what is under way, writes everything down, gives the socket back, then the lock. */
  async leave(code: number): Promise<void> {
    if (this.#leaving) return;
    this.#leaving = true;
    rmSync(this.#paths.socket, { force: true });
    rmSync(this.#paths.daemonFile, { force: true });
    try {
      await this.#server.drain();
      this.#house.fleet.stop();
      this.#house.watch.stop();
      this.#house.sessions.stop();
      this.#house.mail.stop();
      if (code === 0) this.#closeStore();
    } catch (error) {
      logLine(`while leaving: ${String(error)}`);
    }
    this.#lock.release();
    process.exit(code);
  }

  #closeStore(): void {
    this.#house.writer.close();
    closeStore(this.#house.db);
  }

  async #finishStop(run: Parameters<typeof stopRun>[1]): Promise<void> {
    try {
      await stopRun(this.#house, run, TAKEOVER_TERM_WAIT_MS);
    } catch (error) {
      logLine(`takeover of ${run.id}: ${String(error)}`);
    }
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

  /** A full disk passes. After an I/O error or damage nothing this process believes is certain: it leaves. */
  #onStoreFailure(kind: FailureKind, error: unknown): void {
    logLine(`store: ${kind}: ${String(error)}`);
    if (kind === "disk-full") return;
    this.#house.writer.refuse(failureError(kind, error));
    if (kind === "damaged") logLine(setAside(this.#paths.database, error).message);
    else this.#markIoError();
    setImmediate(() => void this.leave(7));
  }

  #markIoError(): void {
    try {
      writeFileAtomic(this.#paths.ioErrorMark, "");
    } catch (error) {
      logLine(`the I/O error could not be marked either: ${String(error)}`);
    }
  }

  #waitIdle(): void {
    if (SERVICE) return;
    if (this.#idleTimer) clearTimeout(this.#idleTimer);
    const idleMs = Number(process.env.PERDURE_IDLE_EXIT_MS) || DAEMON_IDLE_EXIT_MS;
    this.#idleTimer = setTimeout(() => {
      if (this.#server.connections > 0 || this.#house.watch.size > 0 || this.#house.fleet.isNeeded()) this.#waitIdle();
      else void this.leave(0);
    }, idleMs);
  }
}

main().catch((thrown: unknown) => {
  const error = asPerdureError(thrown);
  logLine(`cannot start: ${error.message}`);
  tellStarter({ error: error.toJSON() });
  process.exitCode = error.exitCode;
});
