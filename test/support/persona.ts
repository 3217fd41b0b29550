import { spawn, type SpawnOptions } from "node:child_process";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { EventRecord } from "../../src/protocol/records/admin.ts";
import type { RunRecord } from "../../src/protocol/records/run.ts";
import type { SessionRecord } from "../../src/protocol/records/conversation.ts";
import { connectToDaemon } from "../../src/client/connect.ts";
import type { CallName, CallParams, CallResults } from "../../src/protocol/calls/index.ts";
import { isPerdureError } from "../../src/protocol/errors.ts";
import type { WorkerDetail } from "../../src/protocol/records/worker.ts";
import { processTable } from "../../src/runtime/process/index.ts";
import { readIfThere } from "../../src/state/files.ts";
import { Talk } from "./talk.ts";
import type { Home } from "./home.ts";
import { check, eventually, within } from "./check.ts";
import { PERSONA_FACTS, type PersonaFacts, type Vendor } from "./persona-facts.ts";
import { targetIn } from "./in-home.ts";

const AGENT = resolve(import.meta.dirname, "../../bin/perdure-scripted.js");
/** Separates the words of one start in the log; no word of ours contains it. */
const SEPARATOR = "\u001f";

export interface Start {
  pid: number;
  /** The worker's name; empty for a start by hand. */
  name: string;
  args: string[];
}

/** A home that has the scripted agent on PATH under a vendor's name, with that vendor's persona. Each of its starts is logged. */
export class InstalledPersona {
  readonly home: Home;
  readonly facts: PersonaFacts;
  readonly #log: string;

  constructor(home: Home, vendor: Vendor) {
    this.home = home;
    this.facts = PERSONA_FACTS[vendor];
    this.#log = join(home.dir, `starts.${vendor}`);
    const bin = join(home.dir, "bin");
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, this.facts.program), shim(vendor, this.#log), { mode: 0o755 });
    if (!home.env.PATH?.startsWith(`${bin}:`)) home.env.PATH = `${bin}:${home.env.PATH}`;
  }

  /** Starts `perdure run`, as a person would, over a pipe. */
  run(name: string, words: string[] = [], options: SpawnOptions = {}): Talk {
    const child = this.home.spawn(["run", name, ...words], { stdio: ["pipe", "pipe", "pipe"], ...options });
    child.stdin?.on("error", () => undefined); // one that ended early shows in its exit code
    return new Talk(child);
  }

  /** Starts a new worker, and waits for its first prompt. */
  async begin(name: string, args: string[] = [], options: SpawnOptions = {}): Promise<Talk> {
    const talk = this.run(name, ["--", this.facts.program, ...args], options);
    await within(`${name} to greet`, talk.answer());
    return talk;
  }

  /** Starts the same worker again, and waits for its first prompt. */
  async resume(name: string, options: SpawnOptions = {}): Promise<{ talk: Talk; banner: Banner }> {
    const talk = this.run(name, [], options);
    return { talk, banner: readBanner(await within(`${name} to greet again`, talk.answer())) };
  }

  /** Starts the vendor's program by hand, without perdure. */
  runDirectly(args: string[], options: SpawnOptions = {}): Talk {
    const program = join(this.home.dir, "bin", this.facts.program);
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
    return this.facts.liveSessions(configDir).flatMap(({ pid, session }) => (session === id ? [pid] : []));
  }

  get configDir(): string {
    return join(this.home.dir, this.facts.configDir);
  }

  transcript(id: string, configDir = this.configDir): string | null {
    return this.facts.transcript(configDir, id);
  }

  /** The prompts of a conversation, as its transcript has them. */
  prompts(id: string, configDir = this.configDir): string[] {
    const file = this.transcript(id, configDir);
    return file === null ? [] : this.facts.prompts(readFileSync(file, "utf8"));
  }

  /** Makes a call over a new connection: the daemon of the last call may be dead. */
  async call<N extends CallName>(name: N, params: CallParams<N>): Promise<CallResults[N]> {
    const client = await connectToDaemon({ env: this.home.env });
    return client.call(name, params).finally(() => client.close());
  }

  show(name: string): Promise<WorkerDetail> {
    return this.call("show", { target: targetIn(this.home, name) });
  }

  async history(name: string): Promise<{ runs: RunRecord[]; sessions: SessionRecord[] }> {
    return this.home.json(["history", name]);
  }

  async events(type: string): Promise<EventRecord[]> {
    const client = await connectToDaemon({ env: this.home.env });
    const here = targetIn(this.home, "any").here;
    const params = { here, all: true, target: null, after: 0, limit: 20_000, follow: false };
    const { items } = await client.collect("events", params).finally(() => client.close());
    return items.filter((event) => event.type === type);
  }

  /** Waits until the daemon describes the worker as `wanted`. */
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

  untilProved(name: string): Promise<WorkerDetail> {
    return this.until(name, "to be proved", ({ session }) => session?.proved === true);
  }

  /** Sends SIGKILL to every process of a worker, whatever there is at that moment: the claiming command, the wrapper, the agent. */
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

  /** Waits until the worker is stopped, and its end is recorded with the whole transcript. */
  untilEndRecorded(name: string): Promise<WorkerDetail> {
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
if [ "$1" = --version ]; then echo '${vendor} persona'; exit; fi
start=$(printf '%s${SEPARATOR}' "$$" "$PERDURE_NAME" "$@")
printf '%s\\n' "$start" >> '${log}' # in one piece: others start at the same time
unset start
PERDURE_SCRIPTED_PERSONA=${vendor} exec '${AGENT}' "$@"
`;
}
