import { spawn, type ChildProcess, type StdioOptions } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { claimWithRetry } from "../client/claim.ts";
import { LIST_ROWS_MAX, RECONNECT_MS, START_POLL_MS } from "../limits/index.ts";
import { readProjectSettings } from "../project/config/read.ts";
import { findProject } from "../project/find.ts";
import type { ProjectRef, Target } from "../protocol/calls/index.ts";
import { isPerdureError, PerdureError } from "../protocol/errors.ts";
import { hintOf, verb } from "../protocol/hint.ts";
import { nameKey, parseAddress } from "../protocol/names.ts";
import { OPEN_STATES, type Admitted, type MailState, type MessageRecord } from "../protocol/records/mail.ts";
import type { EventRecord } from "../protocol/records/admin.ts";
import type { RunRecord } from "../protocol/records/run.ts";
import type { WorkerSummary } from "../protocol/records/worker.ts";
import { processTable } from "../runtime/process/index.ts";
import { DIST } from "../state/paths.ts";
import { readEvents, type EventOptions } from "./events.ts";
import { Lease } from "./lease.ts";
import { Link } from "./link.ts";
import { TurnServer, type TurnHandler } from "./turns.ts";
import { Mailbox, type AskOptions, type SendOptions } from "./mailbox.ts";

export interface PerdureOptions {
  /** The environment in which HOME, PERDURE_HOME and the like are looked up; the process's own by default. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Start a daemon if there is none; true by default. */
  autostart?: boolean;
  /** The folder whose project bare names belong to; the current one by default. */
  cwd?: string;
}

export interface ClaimOptions {
  /** Makes a new worker where the name is refused because one has it in a repository that was moved, or cloned anew. */
  fresh?: boolean;
}

export interface StartOptions {
  /** The folder the program runs in; a bare name belongs to that folder's project. */
  cwd?: string;
  env?: Record<string, string | undefined>;
  /** Begins a new conversation, or a new worker where `claim` would need `fresh`. */
  fresh?: boolean;
  /** The option of node:child_process; "ignore" by default, because the worker outlives this process. */
  stdio?: StdioOptions;
}

export interface StartedWorker {
  address: string;
  run: string;
  generation: number;
  pid: number;
}

/** How a run ended. */
export interface RunEnd {
  run: string;
  /** The program's exit code; null when it is unknown. */
  exit: number | null;
  reason: string;
}

/** Connects to the daemon of this machine; starts one if there is none. */
export async function connect(options: PerdureOptions = {}): Promise<Perdure> {
  const link = new Link(options);
  const perdure = new Perdure(link, options);
  await link.client();
  return perdure;
}

export class Perdure implements AsyncDisposable {
  readonly #link: Link;
  readonly #here: ProjectRef;
  readonly #options: PerdureOptions;

  /** @internal */
  constructor(link: Link, options: PerdureOptions) {
    this.#link = link;
    this.#options = options;
    this.#here = projectRefOf(options.cwd ?? process.cwd());
  }

  /** Makes this process the owner of a name. Throws `held` while another live process owns it. */
  async claim(name: string, { fresh = false }: ClaimOptions = {}): Promise<Lease> {
    const request = { command: null, cwd: null, environment: {}, ephemeral: false, vendor: null, fresh };
    const target = this.#target(name);
    const grant = await claimWithRetry(() => this.#link.client(), {
      ...request,
      target,
      kind: "client",
      pid: process.pid,
      namespace: processTable().namespace(),
    });
    return new Lease(this.#link, grant, { here: this.#here, project: grant.project });
  }

  /**
   * Owns a name and answers its mail by a function: one turn at a time, each question in a turn of its own, with the mail that waited in
   * front of it. A turn that throws ends the server, and its message is offered to the next owner of the name.
   */
  async turns(name: string, handler: TurnHandler, options?: ClaimOptions): Promise<TurnServer> {
    return new TurnServer(this.#link, await this.claim(name, options), this.#here, handler);
  }

  /**
   * Sends mail to a worker, running or not; the message is on disk when the promise resolves. The sender is the operator,
   * or the worker whose run this process is part of.
   */
  send(to: string, body: string, options?: SendOptions): Promise<Admitted> {
    return this.#mailbox().send(to, body, options);
  }

  /** Sends mail and waits for the reply, across restarts of the daemon and of the worker. */
  ask(to: string, body: string, options?: AskOptions): Promise<MessageRecord> {
    return this.#mailbox().ask(to, body, options);
  }

  /** Starts a program under a name; the program outlives this process. Throws `held` while another process owns the name. */
  async start(name: string, command: readonly string[], options: StartOptions = {}): Promise<StartedWorker> {
    const cwd = options.cwd ?? this.#options.cwd ?? process.cwd();
    const target = this.#target(name, projectRefOf(cwd));
    const words = ["run", name, ...(options.fresh === true ? ["--fresh"] : []), "--", ...command];
    const child = spawn(process.execPath, [join(DIST, "cli.cjs"), ...words], {
      cwd,
      env: { ...(this.#options.env ?? process.env), ...options.env },
      stdio: options.stdio ?? "ignore",
      detached: true,
    });
    await once(child, "spawn");
    child.unref();
    return this.#whenStarted(target, child);
  }

  /** Resolves when a run has ended, immediately if it already has. Keeps waiting across restarts of the daemon. */
  async ended(name: string, run: string): Promise<RunEnd> {
    let after: number | undefined;
    for (;;) {
      try {
        const events = this.events({ all: true, follow: true, ...(after === undefined ? {} : { after }) });
        for await (const event of events) {
          if (event.type === "run.ended" && event.run === run) return toRunEnd(run, event.data);
          // The history is read once the stream is open, so that no end falls between reading and following.
          const recorded = after === undefined ? await this.#recordedEnd(name, run) : null;
          if (recorded) return recorded;
          after = event.seq;
        }
      } catch (error) {
        if (!isPerdureError(error) || error.code !== "unavailable") throw error;
      }
      await sleep(RECONNECT_MS);
    }
  }

  /** Lists the workers of the project, or of all projects. */
  async *list(options: { all?: boolean } = {}): AsyncGenerator<WorkerSummary> {
    const client = await this.#link.client();
    const params = { here: this.#here, project: this.#project(), all: options.all ?? false };
    yield* (await client.collect("ls", params)).items;
  }

  /** Lists the runs of a worker, newest first. */
  async *history(name: string): AsyncGenerator<RunRecord> {
    yield* await this.#runs(this.#target(name));
  }

  /** Lists the mail of the project, whoever it is for, oldest first: what is on its way or did not arrive, or what is in other states. */
  async *mail(options: { states?: readonly MailState[]; limit?: number } = {}): AsyncGenerator<MessageRecord> {
    const client = await this.#link.client();
    const { states = OPEN_STATES, limit = LIST_ROWS_MAX } = options;
    const params = { here: this.#here, project: this.#project(), states: [...states], before: null, limit };
    yield* (await client.collect("listMail", params)).items;
  }

  /** Yields events, and with `follow` later ones as they happen. Leaving the loop ends the stream. */
  events(options: EventOptions = {}): AsyncGenerator<EventRecord> {
    const target = options.name === undefined ? null : this.#target(options.name);
    return readEvents(() => this.#link.open(), { here: this.#here, target }, options);
  }

  async close(): Promise<void> {
    await this.#link.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Waits for the run of the started process, which turns into the wrapper: the run has the same pid. */
  async #whenStarted(target: Target, child: ChildProcess): Promise<StartedWorker> {
    for (;;) {
      const hasExited = child.exitCode !== null || child.signalCode !== null;
      const runs = await this.#runs(target);
      const record = runs.find(({ pid, endedAt }) => pid === child.pid && (hasExited || endedAt === null));
      if (record) {
        const { address } = await (await this.#link.client()).call("show", { target });
        return { address, run: record.id, generation: record.generation, pid: record.pid };
      }
      if (hasExited) throw await this.#startError(target, child);
      await sleep(START_POLL_MS);
    }
  }

  async #startError(target: Target, child: ChildProcess): Promise<PerdureError> {
    const client = await this.#link.client();
    const { items } = await client.collect("ls", { here: target.here, project: target.project, all: false });
    const holder = items.find(({ name, run }) => run !== null && nameKey(name) === nameKey(target.name));
    if (child.exitCode === 4 && holder?.run) {
      const { id, pid, startedAt } = holder.run;
      const message = `${holder.address} is held by run ${id}, pid ${pid}, since ${startedAt}.`;
      return new PerdureError("held", message, { details: { run: id, pid, since: startedAt } });
    }
    return new PerdureError(
      "refused",
      `${target.name} could not be started (exit ${child.exitCode ?? child.signalCode}).`,
      {
        hint: hintOf`see why: ${verb("run", target.name, "--", "COMMAND")}`,
      },
    );
  }

  async #recordedEnd(name: string, run: string): Promise<RunEnd | null> {
    const record = (await this.#runs(this.#target(name))).find(({ id, endedAt }) => id === run && endedAt !== null);
    return record ? toRunEnd(run, { ...record }) : null;
  }

  /** Lists the runs of a worker; none for an unknown one, which may not be registered yet or may have been renamed. */
  async #runs(target: Target): Promise<RunRecord[]> {
    const client = await this.#link.client();
    try {
      return (await client.collect("history", { target, limit: LIST_ROWS_MAX })).items;
    } catch (error) {
      if (isPerdureError(error) && error.code === "not-found") return [];
      throw error;
    }
  }

  #mailbox(): Mailbox {
    return new Mailbox(this.#link, { here: this.#here, project: this.#project() }, null);
  }

  #target(text: string, here = this.#here): Target {
    const { project, name } = parseAddress(text);
    return { project: project ?? this.#project(), name, here };
  }

  /** Returns the project of the run this process is part of: there, bare names belong to it, as on the command line. */
  #project(): string | null {
    return (this.#options.env ?? process.env).PERDURE_PROJECT || null;
  }
}

function projectRefOf(cwd: string): ProjectRef {
  const found = findProject(cwd);
  return { identity: found.identity, root: found.root, base: readProjectSettings(found).project ?? found.base };
}

function toRunEnd(run: string, data: Record<string, unknown>): RunEnd {
  const { exit, reason } = data;
  return { run, exit: typeof exit === "number" ? exit : null, reason: typeof reason === "string" ? reason : "ended" };
}
