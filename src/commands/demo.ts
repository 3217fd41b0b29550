import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
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
  summary: "a named worker is killed and comes back under its name",
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

  say("A program gets a name. Any program will do; an agent is what it is for.");
  const first = await stage.start(["run", "coder", "--", "sleep", "600"]);
  await stage.show(["ls"]);

  say("While it runs nobody else can be coder. The refusal says who is, and what to do.");
  await stage.show(["run", "coder", "--", "true"]);

  say("Everything it consists of is killed with SIGKILL, as a crash would.");
  await stage.kill(first);
  await stage.show(["ls"]);

  say("The name outlived its process. By name alone, the same command comes back.");
  const second = await stage.start(["run", "coder"]);
  await stage.show(["history", "coder"]);

  if (
    second.address !== first.address ||
    second.generation !== first.generation + 1 ||
    second.run?.id === first.run?.id
  ) {
    throw new Error(`the demo did not hold: ${JSON.stringify({ first, second })}`);
  }
  say(`Same address (${second.address}), generation ${second.generation}, a new run id, the history of both.`);
  const { runs } = await stage.ask<History>(["history", "coder"]);
  return { address: second.address, generation: second.generation, runs };
}

/** A folder with a project and a state of its own, and the command line as a person would use it there. */
class Stage {
  readonly #out: Output;
  readonly #folder = mkdtempSync(join(tmpdir(), "perdure-demo-"));
  readonly #project = join(this.#folder, "api");
  readonly #state = join(this.#folder, "state");
  readonly #started: ChildProcess[] = [];

  constructor(out: Output) {
    this.#out = out;
    mkdirSync(this.#project);
  }

  /** Starts a worker beside the demo and waits until it runs. */
  async start(args: string[]): Promise<WorkerSummary> {
    this.#out.note(`$ perdure ${args.join(" ")} &`);
    const child = this.#perdure(args, "ignore");
    this.#started.push(child);
    for (let tries = 0; tries < 200; tries++) {
      const worker = (await this.ask<{ workers: WorkerSummary[] }>(["ls"])).workers.find(
        ({ state }) => state === "busy",
      );
      if (worker) return worker;
      await sleep(25);
    }
    throw new Error(`the worker did not start (exit ${child.exitCode})`);
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

  #perdure(args: string[], output: "ignore" | "pipe"): ChildProcess {
    return spawn(process.execPath, [process.argv[1] ?? "", ...args], {
      cwd: this.#project,
      env: { ...workerlessEnvironment(process.env), PERDURE_HOME: this.#state },
      stdio: ["ignore", output, output],
    });
  }

  /** `data` is what came on stdout, `text` everything in the order a person would see it. */
  async #capture(args: string[]): Promise<{ data: string; text: string; code: number }> {
    const child = this.#perdure(args, "pipe");
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
