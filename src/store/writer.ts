import { COMMIT_BOUNDS_SECONDS, COMMIT_CHANGES_MAX } from "../limits/index.ts";
import { PerdureError } from "../protocol/errors.ts";
import type { Db } from "./db.ts";
import { Histogram } from "../util/histogram.ts";
import { failureError, failureKind, isRefusedWrite, type FailureKind } from "./failure.ts";

interface Listeners {
  /** After each commit and before anybody is told of it; throws if what was committed would not be found again. */
  beforeAck?: () => void;
  /** After each commit. */
  onCommit: () => void;
  /** Tells whether there is no room for this user, who may have used up a quota: SQLite calls that an I/O error. */
  isQuotaUsedUp?: () => boolean;
  /** The disk or the file failed under us; everybody waiting has been told. */
  onFailure: (kind: FailureKind, error: unknown) => void;
}

interface Job {
  run: () => void;
  checksFirst: boolean;
  done: () => void;
  fail: (error: unknown) => void;
}

/**
 * The only way to change the store. All changes asked for in one turn of the event loop share one commit (and
 * its fsync), up to a bound; each has a savepoint of its own, so one that throws takes nothing else with it. A promise resolves
 * after COMMIT, so whatever is answered is on disk.
 */
export class Writer {
  /** How long commits took, with the changes in them. */
  readonly commits = new Histogram(COMMIT_BOUNDS_SECONDS);
  readonly #db: Db;
  readonly #listeners: Listeners;
  #queue: Job[] = [];
  #isCommitting = false;
  /** Why nothing more is written: closed, or failed in a way after which no commit can be believed. */
  #refusing: Error | null = null;

  constructor(db: Db, listeners: Listeners) {
    this.#db = db;
    this.#listeners = listeners;
  }

  write<T>(change: () => T): Promise<T> {
    return this.#enqueue(change, false);
  }

  /**
   * For a change that refuses, if it does, before it has changed anything: it needs no savepoint, which costs as much as a
   * message. One that refuses later has broken that promise: it fails as an internal error, nothing of the commit is kept, and the
   * others of the commit are told to try again.
   */
  writeChecked<T>(change: () => T): Promise<T> {
    return this.#enqueue(change, true);
  }

  #enqueue<T>(change: () => T, checksFirst: boolean): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#refusing !== null) return reject(this.#refusing);
      let result: T;
      const job: Job = {
        run: () => {
          result = change();
        },
        checksFirst,
        done: () => resolve(result),
        fail: reject,
      };
      this.#queue.push(job);
      if (this.#queue.length === 1) setImmediate(() => this.#flush());
      else if (this.#queue.length >= COMMIT_CHANGES_MAX && !this.#isCommitting) this.#flush();
    });
  }

  /** Commits what is waiting and takes nothing more. */
  close(): void {
    this.#flush();
    this.#refusing ??= new Error("the store is closed");
  }

  /** Refuses every change from now on, with this error. */
  refuse(error: Error): void {
    this.#refusing ??= error;
  }

  #flush(): void {
    const jobs = this.#queue;
    this.#queue = [];
    if (jobs.length === 0) return;
    this.#isCommitting = true;
    const began = performance.now();
    try {
      this.#db.run("BEGIN IMMEDIATE");
      const applied = jobs.filter((job) => (job.checksFirst ? this.#applyChecked(job) : this.#apply(job)));
      this.#db.mailboxCounters.write();
      this.#db.run("COMMIT");
      this.commits.observe((performance.now() - began) / 1000);
      this.#listeners.beforeAck?.();
      for (const job of applied) job.done();
      this.#listeners.onCommit();
    } catch (error) {
      this.#abandon(jobs, error);
    } finally {
      this.#isCommitting = false;
    }
  }

  #applyChecked(job: Job): boolean {
    const before = this.#db.changes;
    try {
      job.run();
      return true;
    } catch (error) {
      if (failureKind(error) !== null) throw error;
      if (this.#db.changes !== before) throw new BrokenPromise(job, error);
      job.fail(error);
      return false;
    }
  }

  #apply(job: Job): boolean {
    const counted = this.#db.mailboxCounters.length;
    this.#db.run("SAVEPOINT one");
    try {
      job.run();
      this.#db.run("RELEASE one");
      return true;
    } catch (error) {
      // A full or broken disk concerns the whole transaction, which SQLite may already have rolled back.
      if (failureKind(error) !== null) throw error;
      this.#db.exec("ROLLBACK TO one; RELEASE one");
      this.#db.mailboxCounters.undo(counted);
      job.fail(error);
      return false;
    }
  }

  #abandon(jobs: Job[], error: unknown): void {
    if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
    this.#db.dropCache();
    this.#db.mailboxCounters.undo(0);
    if (error instanceof BrokenPromise) return this.#retryOthers(jobs, error);
    const kind = isRefusedWrite(error) && this.#listeners.isQuotaUsedUp?.() ? "disk-full" : failureKind(error);
    const reported = kind === null ? error : failureError(kind, error);
    if (kind !== null && kind !== "disk-full") this.refuse(failureError(kind, error));
    for (const job of jobs) job.fail(reported);
    if (kind !== null) this.#listeners.onFailure(kind, error);
  }

  /** The job that broke its promise fails with what it did; the others have done nothing wrong. */
  #retryOthers(jobs: Job[], error: BrokenPromise): void {
    for (const job of jobs) {
      job.fail(
        job === error.job
          ? error
          : new PerdureError("unavailable", "The change was rolled back together with another one.", {
              hint: "try again",
            }),
      );
    }
  }
}

/** Thrown for a checked change that refused after it had changed something. */
class BrokenPromise extends Error {
  readonly job: Job;

  constructor(job: Job, cause: unknown) {
    const said = cause instanceof Error ? cause.message : String(cause);
    super(`a checked change refused after it had changed something: ${said}`, { cause });
    this.job = job;
  }
}
