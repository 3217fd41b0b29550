import type { Activity, BlockedReason } from "../protocol/records/conversation.ts";

/** The activity of a worker at this moment. */
export interface WorkerActivity {
  readonly workerId: number;
  /** The run that does it; null for a worker that is stopped. */
  readonly run: string | null;
  /** `running`: the worker lives, and nobody can tell whether it works. */
  readonly activity: Activity | "running" | "stopped";
  /** The reason why a blocked worker waits; null where it is not known. */
  readonly reason: BlockedReason | null;
}

type ActivityListener = (now: WorkerActivity) => void;

/**
 * Knows what every worker does, for those inside the daemon who wait until a worker is idle, or is no longer. Values are of this
 * moment: they can be ahead of the event in the store by a commit, and they say nothing of who owns the name.
 */
export class WorkerActivities {
  /** The workers with a live run. */
  readonly #current = new Map<number, WorkerActivity>();
  readonly #workerOf = new Map<string, number>();
  readonly #listeners = new Set<ActivityListener>();

  /** Notes a new run of a worker, of which nothing is known yet. */
  began(run: string, workerId: number): void {
    const before = this.#current.get(workerId)?.run;
    // A claim whose answer was lost is made again.
    if (before === run) return;
    if (before != null) this.#workerOf.delete(before);
    this.#workerOf.set(run, workerId);
    this.#set({ workerId, run, activity: "running", reason: null });
  }

  /** Notes what a run does; a run that is over, or that another one has replaced, changes nothing. */
  changed(run: string, activity: Activity | "running", reason: BlockedReason | null): void {
    const workerId = this.#workerOf.get(run);
    if (workerId === undefined) return;
    const before = this.#current.get(workerId);
    if (before?.activity === activity && before.reason === reason) return;
    this.#set({ workerId, run, activity, reason });
  }

  ended(run: string): void {
    const workerId = this.#workerOf.get(run);
    if (workerId === undefined) return;
    this.#workerOf.delete(run);
    this.#current.delete(workerId);
    this.#tell(stopped(workerId));
  }

  of(workerId: number): WorkerActivity {
    return this.#current.get(workerId) ?? stopped(workerId);
  }

  /**
   * Calls the listener with the present value of every worker that lives, at once, and then with each change; returns a function
   * that removes it. A listener that throws would keep the others from hearing, so it must not.
   */
  watch(listener: ActivityListener): () => void {
    for (const now of this.#current.values()) listener(now);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves to the worker's activity once it is as wanted, at once if it is; rejects when the signal is aborted. */
  until(workerId: number, isWanted: (now: WorkerActivity) => boolean, signal: AbortSignal): Promise<WorkerActivity> {
    const now = this.of(workerId);
    if (isWanted(now)) return Promise.resolve(now);
    if (signal.aborted) return Promise.reject(abortError(signal));
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        this.#listeners.delete(listener);
        signal.removeEventListener("abort", onAbort);
      };
      const listener: ActivityListener = (changed) => {
        if (changed.workerId !== workerId || !isWanted(changed)) return;
        stop();
        resolve(changed);
      };
      const onAbort = (): void => {
        stop();
        reject(abortError(signal));
      };
      this.#listeners.add(listener);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  #set(now: WorkerActivity): void {
    this.#current.set(now.workerId, now);
    this.#tell(now);
  }

  #tell(now: WorkerActivity): void {
    for (const listener of this.#listeners) listener(now);
  }
}

function stopped(workerId: number): WorkerActivity {
  return { workerId, run: null, activity: "stopped", reason: null };
}

function abortError({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error("the wait for a worker's activity was given up");
}
