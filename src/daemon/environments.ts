import { isDeepStrictEqual } from "node:util";
import { ENVIRONMENTS_CACHED } from "../limits/index.ts";
import { PerdureError } from "../protocol/errors.ts";
import { hintOf, startVerb } from "../protocol/hint.ts";
import type { GivenEnvironment } from "../protocol/records/environment.ts";
import {
  dropEnvironments,
  keepEnvironment,
  readEnvironment,
  type EnvironmentFile,
} from "../state/environment-files.ts";
import { isErrno } from "../state/files.ts";
import type { StatePaths } from "../state/paths.ts";
import type { Db } from "../store/db.ts";
import { environmentFilesInUse, setEnvironment, takeEnvironmentsOut } from "../store/environments.ts";
import { failureError } from "../store/failure.ts";
import { workerById, type Worker } from "../store/workers.ts";

interface EnvironmentServices {
  readonly db: Db;
  readonly paths: Pick<StatePaths, "environments">;
  readonly onCommit: (listener: () => void) => unknown;
}

type Recorded = Pick<Worker, "environmentFile" | "environmentScope">;

/** An environment as a call gives it, or as it was recorded; a call need not say all of it. */
type Given = Pick<GivenEnvironment, "environment"> & {
  scope?: GivenEnvironment["scope"] | undefined;
  own?: GivenEnvironment["own"] | undefined;
};

/**
 * Knows the environment that each worker is started with when nobody at a terminal starts it: after a crash, at boot, by a script.
 * The store names a file for each; values are in these files alone.
 */
export class RecordedEnvironments {
  readonly #services: EnvironmentServices;
  /** The files that were read last: what is in one never changes. */
  readonly #read = new Map<string, EnvironmentFile>();
  #sweepDue = false;

  constructor(services: EnvironmentServices) {
    this.#services = services;
    services.onCommit(() => {
      if (this.#sweepDue) this.sweep();
    });
  }

  /** Takes what an earlier version recorded in the store out of it. */
  takeOutOfStore(): void {
    const { db, paths } = this.#services;
    takeEnvironmentsOut(db, (variables) => keepEnvironment(paths.environments, { variables, own: {} }));
  }

  /** Returns the variables of the worker's next start; empty if none were recorded, or their file is gone. */
  of(worker: Recorded | null): Record<string, string> {
    const found = worker && this.#find(worker);
    return found ? { ...found.variables, ...found.own } : {};
  }

  /** Tells whether an environment was recorded whose file is gone: the store is a restored backup, or somebody removed the file. */
  isLost(worker: Recorded): boolean {
    return worker.environmentFile !== null && this.#find(worker) === null;
  }

  /**
   * Returns what a start gets that nobody at a terminal asks for. Throws if it is lost: an agent without its keys, proxies and
   * folders would be another one.
   */
  require(worker: Worker): GivenEnvironment {
    const found = this.#find(worker);
    if (found === null && worker.environmentFile !== null) throw lostError(worker);
    const scope = worker.environmentScope ?? "known";
    return { environment: found?.variables ?? {}, own: found?.own ?? {}, scope };
  }

  /** Returns what a start in a pane gets: what the caller gives, unless that is less than what an operator's terminal has given. */
  forStart(worker: Worker, given: Given): GivenEnvironment {
    const { environment, scope = "known" } = given;
    if (!isLess(scope, worker)) return { environment, scope, own: given.own ?? this.#ownOf(worker) };
    const recorded = this.require(worker);
    return { ...recorded, own: given.own ?? recorded.own };
  }

  /** Records what later starts get, inside a change. What a script knows never replaces what an operator's terminal has given. */
  record(workerId: number, given: Given): void {
    const worker = workerById(this.#services.db, workerId);
    if (worker === null) return;
    const { environment, scope = "known" } = given;
    const before = this.#find(worker);
    const own = given.own ?? before?.own ?? {};
    if (!isLess(scope, worker)) return this.#store(worker, { variables: environment, own }, scope);
    if (before !== null && !isDeepStrictEqual(own, before.own)) {
      this.#store(worker, { variables: before.variables, own }, "whole");
    }
  }

  /** Gives a worker the environment of another one, inside a change. */
  copy(from: Recorded, workerId: number): void {
    const { environmentFile: file, environmentScope: scope } = from;
    setEnvironment(this.#services.db, workerId, file === null || scope === null ? null : { file, scope });
  }

  /** Removes, after the next commit, what no worker refers to any more. */
  sweepAfterCommit(): void {
    this.#sweepDue = true;
  }

  /** Removes the files that no worker refers to. Nothing is lost: a change that fails later refers to nothing new. */
  sweep(): void {
    this.#sweepDue = false;
    const { db, paths } = this.#services;
    dropEnvironments(paths.environments, environmentFilesInUse(db));
  }

  #store(worker: Worker, content: EnvironmentFile, scope: GivenEnvironment["scope"]): void {
    const { db, paths } = this.#services;
    const isNothing = Object.keys(content.variables).length + Object.keys(content.own).length === 0;
    const file = isNothing ? null : withDiskErrors(() => keepEnvironment(paths.environments, content));
    if (file === worker.environmentFile && (file === null || scope === worker.environmentScope)) return;
    setEnvironment(db, worker.id, file === null ? null : { file, scope });
    if (worker.environmentFile !== null) this.sweepAfterCommit();
  }

  #ownOf(worker: Recorded): Record<string, string> {
    return this.#find(worker)?.own ?? {};
  }

  #find({ environmentFile: name }: Recorded): EnvironmentFile | null {
    if (name === null) return null;
    const known = this.#read.get(name);
    if (known) return known;
    const found = readEnvironment(this.#services.paths.environments, name);
    if (found === null) return null;
    this.#read.set(name, found);
    const [oldest] = this.#read.keys();
    if (this.#read.size > ENVIRONMENTS_CACHED && oldest !== undefined) this.#read.delete(oldest);
    return found;
  }
}

function isLess(scope: GivenEnvironment["scope"], { environmentScope }: Recorded): boolean {
  return scope === "known" && environmentScope === "whole";
}

function lostError({ name, fleet }: Worker): PerdureError {
  const message = `The environment that was recorded for ${name} is gone; it is in no backup.`;
  return new PerdureError("refused", message, {
    hint: hintOf`type at a terminal whose environment it should have: ${startVerb(name, fleet !== null)}`,
    details: { environmentLost: true },
  });
}

/** A file that cannot be written for want of space is no reason to distrust the store. */
function withDiskErrors<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw isErrno(error, "ENOSPC", "EDQUOT") ? failureError("disk-full", error) : error;
  }
}
