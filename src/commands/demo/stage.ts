import { spawn, type ChildProcess, type StdioOptions } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DEMO_WAIT_MS } from "../../limits/index.ts";
import type { DaemonStatus } from "../../protocol/records/admin.ts";
import type { WorkerSummary } from "../../protocol/records/worker.ts";
import { shellWords } from "../../util/shell-quote.ts";
import { workerlessEnvironment } from "../../launch/environment.ts";
import { carriers, processTable } from "../../runtime/process/index.ts";
import { signalRunProcess } from "../../runtime/process/signal.ts";
import { DIST, statePaths, type StatePaths } from "../../state/paths.ts";
import { isTerminal, type Output } from "../shared/output.ts";

/** Thrown after Ctrl-C, so that the demo stops and cleans up. */
export class Interrupted extends Error {}

/** The demo's temporary folder, with a project and a state folder of its own, and the commands that run in it. */
export class Stage {
  readonly #out: Output;
  readonly #folder = mkdtempSync(join(tmpdir(), "perdure-demo-"));
  readonly project = join(this.#folder, "api");
  readonly #env: Record<string, string>;
  readonly #running = new Set<Promise<unknown>>();
  #interrupted = false;

  constructor(out: Output) {
    this.#out = out;
    mkdirSync(this.project);
    this.#env = {
      ...workerlessEnvironment(process.env),
      PERDURE_HOME: join(this.#folder, "state"),
      PERDURE_SCRIPTED_HOME: join(this.#folder, "agent"),
      XDG_CONFIG_HOME: join(this.#folder, "config"),
      ...(isTerminal(2) && !process.env.NO_COLOR ? { FORCE_COLOR: "1" } : {}),
    };
  }

  get paths(): StatePaths {
    return statePaths(this.#env);
  }

  narrate(text: string): void {
    this.#out.note(`\n${this.#out.paint.cyan(`# ${text}`)}`);
  }

  echoCommand(words: string): void {
    this.#out.note(`${this.#out.paint.bold("$")} ${words}`);
  }

  interrupt(): void {
    this.#interrupted = true;
  }

  /** Runs a command and shows what a person would see. */
  async runAndShow(args: string[], expected = 0): Promise<void> {
    const words = shellWords(args.filter((word) => word !== "--yes"));
    this.echoCommand(`perdure ${words}`);
    const { text, code } = await this.#runTracked(args);
    this.#out.note(`${text.trimEnd()}${code === 0 ? "" : `\n(exit ${code})`}`);
    if (code !== expected) throw new Error(`perdure ${words} exited with ${code}`);
  }

  async query<T>(args: string[]): Promise<T> {
    return JSON.parse((await this.#runTracked([...args, "--json"])).data) as T;
  }

  async workers(): Promise<WorkerSummary[]> {
    return (await this.query<{ workers: WorkerSummary[] }>(["ls"])).workers;
  }

  /** Polls until a value is there; throws the message when it takes too long. */
  async waitFor<T>(message: string, poll: () => Promise<T | null>): Promise<T> {
    const deadline = performance.now() + DEMO_WAIT_MS;
    for (;;) {
      const found = await poll();
      if (found !== null) return found;
      if (performance.now() > deadline) throw new Error(`${message} within ${DEMO_WAIT_MS / 1000} s`);
      await sleep(20);
    }
  }

  /** Starts a program beside the demo. */
  start(args: string[], stdio: StdioOptions): ChildProcess {
    if (this.#interrupted) throw new Interrupted();
    return this.#perdure(args, stdio);
  }

  /** Kills every process of these workers' runs with SIGKILL. Returns the pids. */
  killRuns(workers: readonly WorkerSummary[]): number[] {
    const table = processTable();
    const { socket } = this.paths;
    return workers.flatMap(({ run }) => {
      const mark = { run: run?.id ?? "", socket };
      const victims = carriers(table, mark);
      for (const victim of victims) signalRunProcess(table, victim, mark, "SIGKILL");
      return victims.map(({ pid }) => pid);
    });
  }

  /** Kills the demo's daemon with SIGKILL and waits until it is gone. Returns its pid. */
  async killDaemon(): Promise<number> {
    const { pid } = await this.query<DaemonStatus>(["daemon", "status"]);
    process.kill(pid, "SIGKILL");
    await this.waitFor("the daemon did not die", async () => (processTable().inspect(pid) === null ? pid : null));
    return pid;
  }

  /** Stops everything that the demo started, kills what is left, and removes the folder. Does nothing when called again. */
  async cleanUp(): Promise<void> {
    if (!existsSync(this.#folder)) return;
    this.#interrupted = true;
    // A command that is still running could start another daemon after this one was stopped.
    await Promise.allSettled(this.#running);
    const { data } = await this.#capture(["ls", "--json"]);
    const { workers = [] } = JSON.parse(data) as { workers?: WorkerSummary[] };
    await this.#capture(["down"]);
    for (const { name, run, mode } of workers) if (run && mode !== "tmux") await this.#capture(["takeover", name]);
    await this.#capture(["daemon", "stop"]);
    await this.#killTmux();
    this.killRuns(workers);
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Kills the demo's tmux server, found by its own socket. */
  async #killTmux(): Promise<void> {
    const { tmux } = this.paths;
    if (existsSync(tmux)) await once(spawn("tmux", ["-S", tmux, "kill-server"], { stdio: "ignore" }), "close");
  }

  async #runTracked(args: string[]): Promise<CommandOutput> {
    if (this.#interrupted) throw new Interrupted();
    const finished = this.#capture(args);
    this.#running.add(finished);
    return finished.finally(() => this.#running.delete(finished));
  }

  async #capture(args: string[]): Promise<CommandOutput> {
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

  /** Spawns perdure in a process group of its own: Ctrl-C is for the demo, which cleans up with the same commands. */
  #perdure(args: string[], stdio: StdioOptions): ChildProcess {
    const { project: cwd } = this;
    return spawn(process.execPath, [join(DIST, "cli.cjs"), ...args], { cwd, env: this.#env, stdio, detached: true });
  }
}

interface CommandOutput {
  /** The output on stdout. */
  data: string;
  /** Both outputs, in the order a person would see them. */
  text: string;
  code: number;
}
