import { claimWithRetry } from "../client/claim.ts";
import { LIST_ROWS_MAX } from "../limits/index.ts";
import type { Target } from "../protocol/calls/index.ts";
import { asPerdureError, PerdureError } from "../protocol/errors.ts";
import { checkName } from "../protocol/names.ts";
import type { EventRecord } from "../protocol/records/admin.ts";
import type { DrillResult, SessionRecord } from "../protocol/records/conversation.ts";
import type { DownItem, SavedRecord } from "../protocol/records/fleet.ts";
import { OPEN_STATES, type Admitted, type MailState, type MessageRecord } from "../protocol/records/mail.ts";
import type { RunRecord, TakeoverResult } from "../protocol/records/run.ts";
import type { WorkerSummary } from "../protocol/records/worker.ts";
import { processTable } from "../runtime/process/index.ts";
import { Context } from "./context.ts";
import { readEvents, type EventOptions } from "./events.ts";
import { bringBack, stopWorkers, bringUp, onlyStopped, stopParams, stopWaitMs } from "./fleet.ts";
import type { BroughtUp, FleetOptions, ResumeOptions, StoppingOptions } from "./fleet.ts";
import { Lease } from "./lease.ts";
import { Link } from "./link.ts";
import { TurnServer, type TurnHandler } from "./turns.ts";
import { Mailbox, type AskOptions, type ReceivedMessage, type ReplyOptions, type SendOptions } from "./mailbox.ts";
import { Surroundings, type Identity } from "./surroundings.ts";
import { requireFunction, requireOptions, requireText, requireTexts } from "./require.ts";
import { startProgram, type StartedWorker, type StartOptions } from "./program.ts";
import { runsOf, whenEnded, type RunEnd } from "./runs.ts";
import { callVerb } from "./verb.ts";

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

export interface AdoptOptions {
  /** The vendor's id of the conversation. */
  conversation?: string;
  /** Instead of it, the key whose Pi session file holds the conversation. */
  piSession?: string;
  /** The vendor, where `perdure adopt` does not list the conversation. */
  vendor?: string;
  /** The folder that the conversation began in, where `perdure adopt` does not list it. */
  cwd?: string;
  /** Waits until the process that has the conversation open ends. */
  live?: boolean;
}

/** Connects to the daemon of this machine; starts one if there is none. */
export async function connect(options: PerdureOptions = {}): Promise<Perdure> {
  try {
    const link = new Link(requireOptions(options));
    const perdure = new Perdure(link, new Surroundings(options));
    await link.client();
    return perdure;
  } catch (error) {
    throw asPerdureError(error);
  }
}

/** A connection to the daemon, from one folder. Every error that it throws is a `PerdureError`. */
export class Perdure implements AsyncDisposable {
  /** The notes of this run, or of the name that this process is pinned to. */
  readonly context: Context;
  readonly #link: Link;
  readonly #surroundings: Surroundings;

  /** @internal */
  constructor(link: Link, surroundings: Surroundings) {
    this.#link = link;
    this.#surroundings = surroundings;
    this.context = new Context(surroundings);
  }

  /** Says who this process is, and by which rule, as `perdure whoami` does; asks no daemon. */
  async whoami(options: { as?: string } = {}): Promise<Identity> {
    return ours(async () => this.#surroundings.identity(requireOptions(options).as ?? null));
  }

  /**
   * Makes this process the owner of a name: the one that `whoami` says, where none is given. Throws `held` while another live process
   * owns it.
   */
  async claim(name?: string | null, options: ClaimOptions = {}): Promise<Lease> {
    const { fresh = false } = requireOptions(options);
    const target = name == null ? await ours(async () => this.#surroundings.pinned()) : this.#surroundings.target(name);
    if (target === null) throw nobodyMeant();
    const grant = await claimWithRetry(() => this.#link.client(), {
      command: null,
      cwd: null,
      environment: {},
      ephemeral: false,
      vendor: null,
      fresh,
      target,
      kind: "client",
      pid: process.pid,
      namespace: processTable().namespace(),
    });
    return new Lease(this.#link, grant, { here: this.#surroundings.here, project: grant.project });
  }

  /**
   * Owns a name and answers its mail by a function: one turn at a time, each question in a turn of its own, with the mail that waited in
   * front of it. A turn that throws ends the server, and its message is offered to the next owner of the name.
   */
  async turns(name: string, handler: TurnHandler, options?: ClaimOptions): Promise<TurnServer> {
    requireFunction("the handler", handler);
    return new TurnServer(this.#link, await this.claim(name, options), this.#surroundings.here, handler);
  }

  /**
   * Starts a program under a name; the program outlives this process. Without a command it is the one that is stored; with a vendor,
   * the command is that vendor's arguments alone. Throws what `perdure run` would say, such as `held` while another process owns the name.
   */
  start(name: string, command: readonly string[] | null = null, options: StartOptions = {}): Promise<StartedWorker> {
    return ours(() => startProgram(this.#link, this.#surroundings, name, command, requireOptions(options)));
  }

  /** Resolves when a run has ended, immediately if it already has. Keeps waiting across restarts of the daemon. */
  async ended(name: string, run: string): Promise<RunEnd> {
    return whenEnded(this.#link, this.#surroundings.target(name), requireText("the run", run), (after) =>
      this.events({ all: true, follow: true, ...(after === undefined ? {} : { after }) }),
    );
  }

  /** Stops a worker wherever it runs; its name, conversation and mail stay. Throws `timed-out` if it cannot be stopped. */
  async stop(name: string, options: StoppingOptions = {}): Promise<DownItem> {
    return onlyStopped(await stopWorkers(this.#link, this.#surroundings, [name], requireOptions(options)), name);
  }

  /** Fences whoever owns a name, stops it, and frees the name. */
  async takeover(name: string, options: StoppingOptions = {}): Promise<TakeoverResult> {
    const params = { target: this.#surroundings.target(name), ...stopParams(requireOptions(options)) };
    return (await this.#link.client()).call("takeover", params, stopWaitMs(options));
  }

  /** Gives a worker another name, which its history, conversations and mail go along with. */
  async rename(name: string, to: string): Promise<{ address: string; from: string }> {
    const params = { target: this.#surroundings.target(name), to: checkName(requireText("the new name", to)) };
    return (await this.#link.client()).call("rename", params);
  }

  /** Gives an existing conversation to a worker, whose next start resumes it. */
  async adopt(name: string, options: AdoptOptions): Promise<{ address: string; session: SessionRecord }> {
    const { conversation, piSession, vendor, cwd, live = false } = requireOptions(options);
    return ours(() =>
      callVerb(this.#surroundings, [
        "adopt",
        formatted(this.#surroundings.target(name)),
        "--json",
        ...(piSession === undefined
          ? [`--conversation=${requireText("the conversation", conversation)}`]
          : [`--pi-session=${requireText("the key", piSession)}`]),
        ...(vendor === undefined ? [] : [`--vendor=${requireText("vendor", vendor)}`]),
        ...(cwd === undefined ? [] : [`--cwd=${requireText("cwd", cwd)}`]),
        ...(live ? ["--live"] : []),
      ]),
    );
  }

  /** Starts the fleet of perdure.toml in tmux, or what is missing of it; tells of each worker what came of it. */
  up(options: FleetOptions = {}): Promise<BroughtUp> {
    return ours(async () => bringUp(this.#surroundings, requireOptions(options)));
  }

  /** Brings every worker back to its conversation in a saved session, or throws, and none was started. */
  resume(session: string, options: ResumeOptions = {}): Promise<BroughtUp> {
    return ours(async () => bringBack(this.#surroundings, session, requireOptions(options)));
  }

  /** Stops these workers, by default all that were brought up here; tells of each what came of it. */
  async down(names: readonly string[] | null = null, options: StoppingOptions = {}): Promise<DownItem[]> {
    return stopWorkers(this.#link, this.#surroundings, names, requireOptions(options));
  }

  /** Saves which conversation every worker is in, under one name; with `follow` it is kept current from then on. */
  async save(session: string, options: { follow?: boolean } = {}): Promise<SavedRecord> {
    const { follow = false } = requireOptions(options);
    const { here, project } = this.#surroundings;
    return (await this.#link.client()).call("save", { here, project, name: session, follow });
  }

  /** Lists the saved sessions of the project. */
  async *saved(): AsyncGenerator<SavedRecord> {
    const { here, project } = this.#surroundings;
    yield* (await (await this.#link.client()).collect("saved", { here, project })).items;
  }

  /** Says of these workers, by default of all, whether each could be resumed, and why not; starts and changes nothing. */
  async *drill(names: readonly string[] = []): AsyncGenerator<DrillResult> {
    const { here, project } = this.#surroundings;
    const targets = requireTexts("workers", names).map((name) => this.#surroundings.target(name));
    yield* (await (await this.#link.client()).collect("drill", { here, project, all: false, targets })).items;
  }

  /** Returns the stable Pi session file of another system's key; different keys have different files. */
  async piSession(key: string): Promise<string> {
    const { path } = await ours(() =>
      callVerb<{ path: string }>(this.#surroundings, ["pi-session", "--json", "--", requireText("the key", key)]),
    );
    return path;
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

  /** Yields the mail of the worker whose run this process is part of, else the operator's. Acknowledge each message. */
  receive(): AsyncGenerator<ReceivedMessage> {
    return this.#mailbox().receive(this.#link.closing);
  }

  /** Replies to a message by its id, as the worker whose run this process is part of, or as the operator. */
  reply(id: string, body: string, options?: ReplyOptions): Promise<Admitted> {
    return this.#mailbox().reply(id, body, options);
  }

  /**
   * Lists unread mail and takes none: a worker's, or one's own. A process that is only pinned to a worker looks at that worker's.
   * With `all`, what was read before, too.
   */
  async *inbox(name: string | null = null, options: { all?: boolean } = {}): AsyncGenerator<MessageRecord> {
    const { all = false } = requireOptions(options);
    const { here, project, isNested: nested, isWorker } = this.#surroundings;
    const target = name === null ? (isWorker ? null : this.#surroundings.pinned()) : this.#surroundings.target(name);
    const params = { as: null, nested, here, project, target, all, limit: LIST_ROWS_MAX };
    yield* (await (await this.#link.client()).collect("peekMail", params)).items;
  }

  /** Lists the mail of the project, whoever it is for, oldest first: what is on its way or did not arrive, or what is in other states. */
  async *mail(options: { states?: readonly MailState[]; limit?: number } = {}): AsyncGenerator<MessageRecord> {
    const { here, project } = this.#surroundings;
    const { states = OPEN_STATES, limit = LIST_ROWS_MAX } = requireOptions(options);
    const params = { here, project, states: [...states], before: null, limit };
    yield* (await (await this.#link.client()).collect("listMail", params)).items;
  }

  /** Lists the workers of the project, or of all projects. */
  async *list(options: { all?: boolean } = {}): AsyncGenerator<WorkerSummary> {
    const { all = false } = requireOptions(options);
    const { here, project } = this.#surroundings;
    yield* (await (await this.#link.client()).collect("ls", { here, project, all })).items;
  }

  /** Lists the runs of a worker, newest first. */
  async *history(name: string): AsyncGenerator<RunRecord> {
    yield* await runsOf(this.#link, this.#surroundings.target(name));
  }

  /** Yields events, and with `follow` later ones as they happen. Leaving the loop ends the stream. */
  async *events(options: EventOptions = {}): AsyncGenerator<EventRecord> {
    const { name } = requireOptions(options);
    const target = name === undefined ? null : this.#surroundings.target(name);
    yield* readEvents(this.#link, { here: this.#surroundings.here, target }, options);
  }

  async close(): Promise<void> {
    await this.#link.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #mailbox(): Mailbox {
    const { here, project, isNested: nested, isWorker } = this.#surroundings;
    return new Mailbox(this.#link, { here, project }, { as: null, nested, isWorker });
  }
}

/** Makes one of our errors of whatever goes wrong. */
async function ours<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asPerdureError(error);
  }
}

function nobodyMeant(): PerdureError {
  return new PerdureError("usage", "claim: no name was given, and nothing says which worker is meant.", {
    hint: 'claim("NAME"), or say once who is meant here: PERDURE_NAME=NAME, or name = "NAME" in perdure.toml',
  });
}

/** Writes a target as the command line takes it. */
function formatted({ project, name }: Target): string {
  return project === null ? name : `${project}/${name}`;
}
