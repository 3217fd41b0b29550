import { setImmediate as turn } from "node:timers/promises";
import type { History } from "../../src/protocol/records/run.ts";
import type { WorkerDetail, WorkerSummary } from "../../src/protocol/records/worker.ts";
import type { ModelRequest } from "./model/index.ts";
import { until } from "../terminal/tmux.ts";
import { untilReaped } from "./harness/marked-processes.ts";
import type { LiveSetup } from "./setup.ts";

/** How perdure is called: its folder, its variables (null unsets one), the worker's address, further words. */
export interface CallOptions {
  cwd?: string;
  env?: Readonly<Record<string, string | null>>;
  /** The worker's address, in place of the bare name. */
  address?: string;
  /** The user's arguments for the vendor's program. */
  args?: readonly string[];
  fresh?: boolean;
  /** Takes what another process said beside the worker. */
  accept?: boolean;
  /** A text of the conversation from before there was a terminal: the program is ready when that is on the screen. */
  said?: string;
}

/** How a start ended that should not have succeeded. */
export interface Refusal {
  code: number;
  /** The program's message, on one line. */
  text: string;
}

/** A worker in one of the two modes: started, spoken to, killed, and seen through perdure's own commands. */
export abstract class Worker {
  readonly name: string;
  protected readonly setup: LiveSetup;
  protected how: CallOptions;

  constructor(setup: LiveSetup, name: string, how: CallOptions) {
    this.setup = setup;
    this.name = name;
    this.how = how;
  }

  /**
   * Says something, and waits until the answer is on disk. A worker that is not running is started or resumed for it.
   * The request in which the model was told.
   */
  abstract say(text: string): Promise<ModelRequest>;

  /** The same once more, in a run of its own that perdure is asked for by name alone. */
  abstract again(text: string): Promise<ModelRequest>;

  /** Says something, and returns when the model was asked: in the middle of the turn. */
  abstract begin(text: string): Promise<void>;

  /** Says something the model does not answer: returns in the middle of the turn. The text as it was said. */
  async hold(text: string): Promise<string> {
    const held = `${text} [[hold]]`;
    await this.begin(held);
    return held;
  }

  /** There and idle in a terminal; without one there is nothing before the first turn, so that is held. */
  abstract open(): Promise<void>;

  /** A start that is expected to fail before the vendor's program runs: the words are those of last time. */
  abstract refused(): Promise<Refusal>;

  /** A new conversation in the same process. */
  abstract renew(): Promise<void>;

  /** The terminal goes away under it. */
  abstract loseTerminal(): Promise<void>;

  /** After the run has ended by itself or by somebody else's hand. */
  protected abstract left(): Promise<void>;

  /** Changes how perdure is called from now on. */
  from(how: CallOptions): this {
    this.how = { args: this.how.args ?? [], ...how };
    return this;
  }

  /** SIGKILL to every process of the run; perdure has seen it when this returns. */
  async kill({ andDaemon = false } = {}): Promise<void> {
    return Worker.killTogether([this], { andDaemon });
  }

  /** The same of several workers of one home at once: none of them, nor the daemon, sees another one die. */
  static async killTogether(workers: readonly Worker[], { andDaemon = false } = {}): Promise<void> {
    const details = await Promise.all(workers.map((worker) => worker.detail()));
    const runs = details.flatMap(({ run }) => (run === null ? [] : [run.id]));
    const [{ setup }] = workers as readonly [Worker];
    const daemon = andDaemon ? setup.home.daemonPid() : null;
    if (daemon !== null) process.kill(daemon, "SIGKILL");
    const killed = new Set<number>();
    const left = (): string[] =>
      runs.filter((run) => {
        const live = setup.home.processesOf(run);
        for (const { pid } of live) killed.add(pid);
        return live.length > 0;
      });
    for (let live = left(); live.length > 0; live = left()) {
      for (const run of live) setup.home.killRun(run);
      await turn();
    }
    for (const worker of workers) await worker.ended();
    if (workers.some((worker) => worker.setup.vendor.countsZombiesAsLive)) await untilReaped([...killed]);
  }

  /** Waits until perdure says that the worker does not run. */
  async ended(): Promise<void> {
    await this.until("ended", ({ run }) => run === null);
    await this.left();
  }

  async detail(): Promise<WorkerDetail> {
    return this.setup.home.json<WorkerDetail>(["show", this.name]);
  }

  async history(): Promise<History> {
    return this.setup.home.json<History>(["history", this.name]);
  }

  /** Asks perdure until the worker is as wanted. */
  async until(what: string, wanted: (worker: WorkerSummary) => boolean): Promise<WorkerSummary> {
    let seen: WorkerSummary | undefined;
    const look = async (): Promise<WorkerSummary | null> => {
      const { workers } = await this.setup.home.json<{ workers: WorkerSummary[] }>(["ls"]);
      seen = workers.find(({ name }) => name === this.name);
      return seen && wanted(seen) ? seen : null;
    };
    return until(`${this.name} ${what}`, look, () => Promise.resolve(JSON.stringify(seen)));
  }

  /** The conversation the next start resumes. */
  async session(): Promise<string> {
    return (await this.detail()).conversation?.id ?? "none";
  }

  /** The conversation's transcript, found by its id and not by what perdure says. */
  async transcript(): Promise<string> {
    const session = await this.session();
    const [file, ...others] = this.setup.filesOf(session);
    if (file === undefined || others.length > 0) {
      throw new Error(`not one transcript of ${session}: ${this.setup.transcripts().join(", ")}`);
    }
    return file;
  }

  /** `run`, with the program's words or without: then perdure knows them. */
  protected runWords(command: readonly string[] | null): string[] {
    const { address = this.name, fresh = false, accept = false } = this.how;
    const choice = [...(fresh ? ["--fresh"] : []), ...(accept ? ["--accept"] : [])];
    return ["run", address, ...choice, ...(command ? ["--", ...command] : [])];
  }

  /** The first request of this turn, of those that came since. */
  protected async asked(text: string, since: number): Promise<ModelRequest> {
    const isIt = ({ index, auxiliary, turns }: ModelRequest): boolean =>
      index >= since && !auxiliary && turns.at(-1) === text;
    return this.setup.model.until(isIt);
  }
}
