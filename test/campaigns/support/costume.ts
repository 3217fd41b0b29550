import { spawn, type SpawnOptions } from "node:child_process";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { connect } from "../../../src/client/connect.ts";
import type { CallName, CallParams, CallResults } from "../../../src/protocol/calls/index.ts";
import { isPerdureError } from "../../../src/protocol/errors.ts";
import type { EventRecord } from "../../../src/protocol/records/admin.ts";
import type { RunRecord } from "../../../src/protocol/records/run.ts";
import type { SessionRecord } from "../../../src/protocol/records/conversation.ts";
import type { WorkerDetail } from "../../../src/protocol/records/worker.ts";
import { processTable } from "../../../src/runtime/process/index.ts";
import { readIfThere } from "../../../src/state/files.ts";
import { Talk } from "../../scripted/stage.ts";
import type { Home } from "../../support/home.ts";
import { check, eventually, within } from "./check.ts";
import { LOOKS, type Look, type Vendor } from "./costume-looks.ts";
import { targetIn } from "./house.ts";

const AGENT = resolve(import.meta.dirname, "../../../bin/perdure-scripted.js");
/** Between the words of one start in the log; no word of ours has it. */
const SEPARATOR = "\u001f";

export interface Start {
  pid: number;
  /** The worker it was started as; empty when it was by hand. */
  name: string;
  args: string[];
}

/** A home in which the small agent is on PATH under a vendor's name and in its clothes. Each of its starts is written down. */
export class Costume {
  readonly home: Home;
  readonly look: Look;
  readonly #log: string;

  constructor(home: Home, vendor: Vendor) {
    this.home = home;
    this.look = LOOKS[vendor];
    this.#log = join(home.dir, `starts.${vendor}`);
    const bin = join(home.dir, "bin");
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, this.look.program), shim(vendor, this.#log), { mode: 0o755 });
    if (!home.env.PATH?.startsWith(`${bin}:`)) home.env.PATH = `${bin}:${home.env.PATH}`;
  }

  /** `perdure run`, as a person would, over a pipe. */
  run(name: string, words: string[] = [], options: SpawnOptions = {}): Talk {
    const child = this.home.spawn(["run", name, ...words], { stdio: ["pipe", "pipe", "pipe"], ...options });
    child.stdin?.on("error", () => undefined); // one that ended early shows in its exit code
    return new Talk(child);
  }

  /** A new worker, up to its first question. */
  async begin(name: string, args: string[] = [], options: SpawnOptions = {}): Promise<Talk> {
    const talk = this.run(name, ["--", this.look.program, ...args], options);
    await within(`${name} to greet`, talk.answer());
    return talk;
  }

  /** The same worker again, up to its first question. */
  async resume(name: string, options: SpawnOptions = {}): Promise<{ talk: Talk; banner: Banner }> {
    const talk = this.run(name, [], options);
    return { talk, banner: readBanner(await within(`${name} to greet again`, talk.answer())) };
  }

  /** The vendor's program by hand, without perdure. */
  alone(args: string[], options: SpawnOptions = {}): Talk {
    const program = join(this.home.dir, "bin", this.look.program);
    const child = spawn(program, args, { cwd: this.home.project, env: this.home.env, stdio: "pipe", ...options });
    child.stdin?.on("error", () => undefined);
    return new Talk(child);
  }

  /** Every start of the vendor's program for a conversation, in order. */
  starts(): Start[] {
    const lines = (readIfThere(this.#log) ?? "").split("\n").filter(Boolean);
    return lines
      .map((line) => line.split(SEPARATOR))
      .map(([pid = "", name = "", ...args]) => ({ pid: Number(pid), name, args: args.slice(0, -1) }))
      .filter(({ args }) => !args.includes("app-server"));
  }

  /** Live processes that are in this conversation, by what the vendor's own files say. */
  holders(id: string, configDir = this.configDir): number[] {
    return this.look.present(configDir).flatMap(({ pid, session }) => (session === id ? [pid] : []));
  }

  get configDir(): string {
    return join(this.home.dir, this.look.configDir);
  }

  transcript(id: string, configDir = this.configDir): string | null {
    return this.look.transcript(configDir, id);
  }

  /** What was asked in a conversation, as its transcript has it. */
  asked(id: string, configDir = this.configDir): string[] {
    const file = this.transcript(id, configDir);
    return file === null ? [] : this.look.asked(readFileSync(file, "utf8"));
  }

  /** Over a connection of its own: the daemon of the last call may be dead. */
  async call<N extends CallName>(name: N, params: CallParams<N>): Promise<CallResults[N]> {
    const client = await connect({ env: this.home.env });
    return client.call(name, params).finally(() => client.close());
  }

  show(name: string): Promise<WorkerDetail> {
    return this.call("show", { target: targetIn(this.home, name) });
  }

  async history(name: string): Promise<{ runs: RunRecord[]; sessions: SessionRecord[] }> {
    return this.home.json(["history", name]);
  }

  async events(type: string): Promise<EventRecord[]> {
    const client = await connect({ env: this.home.env });
    const here = targetIn(this.home, "any").here;
    const params = { here, all: true, target: null, after: 0, limit: 20_000, follow: false };
    const { items } = await client.collect("events", params).finally(() => client.close());
    return items.filter((event) => event.type === type);
  }

  /** As soon as the daemon tells so of the worker. */
  async until(name: string, what: string, wanted: (worker: WorkerDetail) => boolean): Promise<WorkerDetail> {
    let last: WorkerDetail | null = null;
    const reached = async (): Promise<boolean> => {
      last = await this.show(name).catch(nullIfUnknown);
      return last !== null && wanted(last);
    };
    await eventually(`${name} ${what}`, reached).catch((error: unknown) => {
      throw new Error(`${String(error)}: ${JSON.stringify(last)}`, { cause: error });
    });
    return last ?? this.show(name);
  }

  proved(name: string): Promise<WorkerDetail> {
    return this.until(name, "to be proved", ({ session }) => session?.proved === true);
  }

  /** SIGKILL to everything of a worker, whatever it is at that moment: the claiming command, the wrapper, the agent. */
  async kill(name: string, talk: Talk): Promise<void> {
    talk.kill("SIGKILL");
    const table = processTable();
    const socket = join(this.home.state, "perdure.sock");
    const left = (): number[] =>
      table
        .withVariable("PERDURE_NAME", name)
        .map(({ pid }) => pid)
        .filter((pid) => table.variable(pid, "PERDURE_SOCKET") === socket);
    await eventually(`the end of all of ${name}`, () => {
      const pids = left();
      for (const pid of pids) killIfThere(pid);
      return pids.length === 0;
    });
    await within(`${name} to be reaped`, talk.ended);
  }

  /** Stopped, and its end written down with all the daemon wanted to know of the transcript. */
  settled(name: string): Promise<WorkerDetail> {
    return this.until(name, "to be settled", ({ run, conversation }) => {
      const file = conversation && this.transcript(conversation.id, conversation.configDir);
      return run === null && (conversation?.transcript?.bytes ?? 0) === (file === null ? 0 : statSync(file).size);
    });
  }
}

export interface Banner {
  session: string;
  turns: number;
}

export function readBanner(text: string): Banner {
  const session = /^│ session {2}(\S+)/m.exec(text)?.[1];
  const turns = /^│ history: (\d+) turns/m.exec(text)?.[1];
  check(session !== undefined && turns !== undefined, () => `not a greeting: ${JSON.stringify(text)}`);
  return { session, turns: Number(turns) };
}

function nullIfUnknown(error: unknown): null {
  if (isPerdureError(error) && error.code === "not-found") return null;
  throw error;
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // ended by itself meanwhile
  }
}

function shim(vendor: Vendor, log: string): string {
  return `#!/bin/sh
if [ "$1" = --version ]; then echo '${vendor} in costume'; exit; fi
{ printf '%s${SEPARATOR}' "$$" "$PERDURE_NAME" "$@"; echo; } >> '${log}'
PERDURE_SCRIPTED_LAYOUT=${vendor} exec '${AGENT}' "$@"
`;
}
