import { spawn, type ChildProcess, type StdioOptions } from "node:child_process";
import { on, once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { History, WorkerSummary } from "../protocol/results.ts";
import { workerlessEnvironment } from "../runtime/environment.ts";
import { carriers, processTable } from "../runtime/process/index.ts";
import { signalRunProcess } from "../runtime/signal.ts";
import { statePaths } from "../state/paths.ts";
import type { Command } from "./command.ts";
import type { Output } from "./output.ts";

export const demo: Command = {
  summary: "a named agent is killed and comes back in its own conversation",
  usage: "",
  details: "In a temporary folder with a state of its own: nothing of yours is touched, nothing is left behind.",
  examples: ["perdure demo"],
  words: [0, 0],

  async run({ out }) {
    const stage = new Stage(out);
    process.once("SIGINT", () => void stage.clear().then(() => process.exit(130)));
    try {
      out.result(await play(stage, out), () => "");
    } finally {
      await stage.clear();
    }
  },
};

async function play(stage: Stage, out: Output): Promise<object> {
  const say = (text: string): void => out.note(`\n${out.paint.cyan(`# ${text}`)}`);

  say("An agent gets a name. This one is built in and needs no model; claude or codex would stand in its place.");
  const first = await stage.start(["run", "coder", "--vendor", "scripted"]);
  await stage.tell("The staging database is called heron.");
  await stage.show(["ls"]);

  say("While it runs nobody else can be coder. The refusal says who is, and what to do.");
  await stage.show(["run", "coder"]);

  say("Everything it consists of is killed with SIGKILL, as a crash would.");
  await stage.kill(first);
  await stage.show(["ls"]);

  say("The name outlived its process. By name alone it comes back, in its own conversation.");
  const second = await stage.start(["run", "coder"]);
  const answer = await stage.tell("What did I tell you first?");

  say("And that is not taken on trust: what the process shows is compared with what was asked for.");
  await stage.proved("coder");
  await stage.show(["history", "coder"]);

  const { runs, sessions } = await stage.ask<History>(["history", "coder"]);
  const held =
    second.address === first.address &&
    second.generation === first.generation + 1 &&
    second.run?.id !== first.run?.id &&
    second.session?.id === first.session?.id &&
    sessions[0]?.proved === true &&
    answer.includes("heron");
  if (!held) throw new Error(`the demo did not hold: ${JSON.stringify({ first, second, answer, sessions })}`);
  say(`Same address (${second.address}), a new run, the same conversation, proved.`);
  return { address: second.address, generation: second.generation, session: second.session, runs };
}

/** A folder with a project and a state of its own, and the command line as a person would use it there. */
class Stage {
  readonly #out: Output;
  readonly #folder = mkdtempSync(join(tmpdir(), "perdure-demo-"));
  readonly #project = join(this.#folder, "api");
  readonly #state = join(this.#folder, "state");
  readonly #started: ChildProcess[] = [];
  #agent: ChildProcess | null = null;

  constructor(out: Output) {
    this.#out = out;
    mkdirSync(this.#project);
  }

  /** Starts a worker beside the demo and waits until it is ready for input. */
  async start(args: string[]): Promise<WorkerSummary> {
    this.#out.note(`$ perdure ${args.join(" ")} &`);
    const child = this.#perdure(args, ["pipe", "pipe", "ignore"]);
    child.stdout?.setEncoding("utf8");
    this.#started.push(child);
    this.#agent = child;
    return this.#until((worker) => worker.state === "idle", `the worker did not start (exit ${child.exitCode})`);
  }

  /** Types a line to the agent that was started last, and shows its answer. */
  async tell(line: string): Promise<string> {
    this.#out.note(`${this.#out.paint.bold("you>")} ${line}`);
    this.#agent?.stdin?.write(`${line}\n`);
    const answer = await this.#answer();
    this.#out.note(`${this.#out.paint.bold("coder>")} ${answer}`);
    return answer;
  }

  async proved(name: string): Promise<void> {
    await this.#until((worker) => worker.name === name && worker.session?.proved === true, `${name} was never proved`);
  }

  /** What it says behind its banner and its prompt sign. */
  async #answer(): Promise<string> {
    let text = "";
    for await (const chunk of on(this.#agent?.stdout ?? process.stdin, "data", {
      signal: AbortSignal.timeout(20_000),
    })) {
      text += String(chunk);
      const said = /^(?:> )*(turns=.*)$/m.exec(text)?.[1];
      if (said !== undefined && text.includes("\n", text.indexOf(said))) return said;
    }
    return text;
  }

  async #until(wanted: (worker: WorkerSummary) => boolean, otherwise: string): Promise<WorkerSummary> {
    for (let tries = 0; tries < 200; tries++) {
      const worker = (await this.ask<{ workers: WorkerSummary[] }>(["ls"])).workers.find(wanted);
      if (worker) return worker;
      await sleep(25);
    }
    throw new Error(otherwise);
  }

  /** Runs a command and shows what a person would see. */
  async show(args: string[]): Promise<void> {
    this.#out.note(`$ perdure ${args.join(" ")}`);
    const { text, code } = await this.#capture(args);
    this.#out.note(`${text.trimEnd()}${code === 0 ? "" : `\n(exit ${code})`}`);
  }

  async ask<T>(args: string[]): Promise<T> {
    return JSON.parse((await this.#capture([...args, "--json"])).data) as T;
  }

  async kill({ run }: WorkerSummary): Promise<void> {
    const table = processTable();
    const mark = { run: run?.id ?? "", socket: statePaths({ ...process.env, PERDURE_HOME: this.#state }).socket };
    const victims = carriers(table, mark);
    this.#out.note(`$ kill -9 ${victims.map(({ pid }) => pid).join(" ")}`);
    for (const victim of victims) signalRunProcess(table, victim, mark, "SIGKILL");
    await Promise.all(this.#started.map(async (child) => child.exitCode ?? child.signalCode ?? once(child, "exit")));
  }

  async clear(): Promise<void> {
    const workers = await this.ask<{ workers?: WorkerSummary[] }>(["ls"]);
    for (const worker of workers.workers ?? []) if (worker.run) await this.#capture(["takeover", worker.name]);
    await this.#capture(["daemon", "stop"]);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #perdure(args: string[], stdio: StdioOptions): ChildProcess {
    const own = { PERDURE_HOME: this.#state, PERDURE_SCRIPTED_HOME: join(this.#folder, "agent") };
    return spawn(process.execPath, [process.argv[1] ?? "", ...args], {
      cwd: this.#project,
      env: { ...workerlessEnvironment(process.env), ...own },
      stdio,
    });
  }

  /** `data` is what came on stdout, `text` everything in the order a person would see it. */
  async #capture(args: string[]): Promise<{ data: string; text: string; code: number }> {
    const child = this.#perdure(args, ["ignore", "pipe", "pipe"]);
    let data = "";
    let text = "";
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      data += chunk;
      text += chunk;
    });
    child.stderr?.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    const [code] = (await once(child, "close")) as [number | null];
    return { data, text, code: code ?? -1 };
  }
}
