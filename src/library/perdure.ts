import { spawn, type ChildProcess, type StdioOptions } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { dist } from "../client/autostart.ts";
import { LIST_ROWS_MAX } from "../limits.ts";
import { findProject } from "../project/find.ts";
import { readProjectConfig } from "../project/config.ts";
import { PerdureError } from "../protocol/errors.ts";
import { parseAddress } from "../protocol/names.ts";
import type { EventRecord, RunRecord, WorkerSummary } from "../protocol/results.ts";
import { Lease } from "./lease.ts";
import { Link } from "./link.ts";

export interface PerdureOptions {
  /** Where HOME, PERDURE_HOME and the like are looked up; the process's own by default. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Start a daemon if there is none; true by default. */
  autostart?: boolean;
  /** The folder whose project bare names belong to; the current one by default. */
  cwd?: string;
}

export interface StartOptions {
  cwd?: string;
  env?: Record<string, string | undefined>;
  /** As in node:child_process; "ignore" by default, because the worker outlives this process. */
  stdio?: StdioOptions;
}

export interface StartedWorker {
  address: string;
  run: string;
  generation: number;
  pid: number;
}

export interface EventOptions {
  /** Only of this worker. */
  name?: string;
  /** Of every project. */
  all?: boolean;
  /** Those with a higher number; all kept ones with 0. Without it, the latest 50. */
  after?: number;
  /** Go on with later ones until the loop is left. */
  follow?: boolean;
}

const LOOK_MS = 20;

interface Place {
  identity: string;
  root: string;
  base: string;
}

/** Identities on this machine, for other programs' code. Starts a daemon if there is none. */
export async function connect(options: PerdureOptions = {}): Promise<Perdure> {
  const link = new Link(options);
  await link.client();
  return new Perdure(link, options);
}

export class Perdure implements AsyncDisposable {
  readonly #link: Link;
  readonly #here: Place;
  readonly #options: PerdureOptions;

  /** @internal */
  constructor(link: Link, options: PerdureOptions) {
    const found = findProject(options.cwd ?? process.cwd());
    this.#link = link;
    this.#options = options;
    this.#here = { identity: found.identity, root: found.root, base: readProjectConfig(found).project ?? found.base };
  }

  /** Makes this process the owner of a name. Throws `held` while another live process is. */
  async claim(name: string): Promise<Lease> {
    const client = await this.#link.client();
    const grant = await client.call("claim", {
      target: this.#target(name),
      kind: "client",
      pid: process.pid,
      command: null,
      cwd: null,
      environment: {},
    });
    return new Lease(this.#link, grant);
  }

  /** Starts a program under a name. It outlives this process. Throws `held` while another one has the name. */
  async start(name: string, command: readonly string[], options: StartOptions = {}): Promise<StartedWorker> {
    const child = spawn(join(dist, "..", "bin", "perdure.js"), ["run", name, "--", ...command], {
      cwd: options.cwd ?? this.#options.cwd,
      env: { ...(this.#options.env ?? process.env), ...options.env },
      stdio: options.stdio ?? "ignore",
      detached: true,
    });
    await once(child, "spawn");
    child.unref();
    return this.#whenStarted(name, child);
  }

  /** Resolves when a run has ended, with how it ended; at once if it has already. */
  async ended(name: string, run: string): Promise<RunRecord> {
    let looked = false;
    for await (const event of this.events({ name, follow: true })) {
      // Looked at once from inside the stream, so that no end falls between looking and listening.
      if (looked && (event.type !== "run.ended" || event.run !== run)) continue;
      looked = true;
      const record = await this.#runRecord(name, ({ id, endedAt }) => id === run && endedAt !== null);
      if (record) return record;
    }
    throw new PerdureError("unavailable", `The daemon left while ${run} was being watched.`, { hint: "try again" });
  }

  /** The workers of the project, or of all projects. */
  async *list(options: { all?: boolean } = {}): AsyncGenerator<WorkerSummary> {
    const client = await this.#link.client();
    yield* await client.collect("ls", { here: this.#here, project: null, all: options.all ?? false });
  }

  /** The runs of a worker, newest first. */
  async *history(name: string): AsyncGenerator<RunRecord> {
    const client = await this.#link.client();
    yield* (await client.call("history", { target: this.#target(name), limit: LIST_ROWS_MAX })).runs;
  }

  async *events(options: EventOptions = {}): AsyncGenerator<EventRecord> {
    const client = await this.#link.open();
    const queue: EventRecord[] = [];
    let wake: () => void = () => undefined;
    let outcome: { error?: unknown } | null = null;
    const finish = (result: { error?: unknown }): void => {
      outcome = result;
      wake();
    };
    const params = {
      here: this.#here,
      all: options.all ?? false,
      target: options.name === undefined ? null : this.#target(options.name),
      after: options.after ?? null,
      limit: options.after === undefined ? 50 : LIST_ROWS_MAX,
      follow: options.follow ?? false,
    };
    const onItem = (event: EventRecord): void => {
      queue.push(event);
      wake();
    };
    client.stream("events", params, onItem).then(
      () => finish({}),
      (error: unknown) => finish({ error }),
    );
    try {
      for (;;) {
        const event = queue.shift();
        if (event) yield event;
        else if (outcome) break;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
      const { error } = outcome as { error?: unknown };
      if (error !== undefined) throw error;
    } finally {
      client.close();
    }
  }

  async close(): Promise<void> {
    await this.#link.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** The started process becomes the wrapper, so its pid is the run's. */
  async #whenStarted(name: string, child: ChildProcess): Promise<StartedWorker> {
    for (;;) {
      const over = child.exitCode !== null || child.signalCode !== null;
      const record = await this.#runRecord(name, ({ pid, endedAt }) => pid === child.pid && (over || endedAt === null));
      if (record) {
        const address = await this.#address(name);
        return { address, run: record.id, generation: record.generation, pid: record.pid };
      }
      if (over) throw await this.#whyNotStarted(name, child);
      await sleep(LOOK_MS);
    }
  }

  async #whyNotStarted(name: string, child: ChildProcess): Promise<PerdureError> {
    for await (const worker of this.list()) {
      if (child.exitCode !== 4 || worker.name.toLowerCase() !== parseAddress(name).name.toLowerCase() || !worker.run)
        continue;
      const message = `${worker.address} is held by run ${worker.run.id}, pid ${worker.run.pid}, since ${worker.run.startedAt}.`;
      return new PerdureError("held", message, { details: { run: worker.run.id, pid: worker.run.pid } });
    }
    return new PerdureError("refused", `${name} could not be started (exit ${child.exitCode ?? child.signalCode}).`, {
      hint: `see why: perdure run ${name} -- COMMAND`,
    });
  }

  async #runRecord(name: string, wanted: (run: RunRecord) => boolean): Promise<RunRecord | null> {
    try {
      for await (const record of this.history(name)) if (wanted(record)) return record;
    } catch (error) {
      if (!(error instanceof PerdureError) || error.code !== "not-found") throw error;
    }
    return null;
  }

  async #address(name: string): Promise<string> {
    const client = await this.#link.client();
    return (await client.call("show", { target: this.#target(name) })).address;
  }

  #target(text: string): { project: string | null; name: string; here: Place } {
    return { ...parseAddress(text), here: this.#here };
  }
}
