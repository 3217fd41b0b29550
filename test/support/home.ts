import { execFileSync, spawn, spawnSync, type ChildProcess, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { connectToDaemon } from "../../src/client/connect.ts";
import { findProject } from "../../src/project/find.ts";
import type { WorkerSummary } from "../../src/protocol/records/worker.ts";
import { carriers, processTable, type ProcessInfo, type RunMark } from "../../src/runtime/process/index.ts";
import { signalRunProcess } from "../../src/runtime/process/signal.ts";
import { eventually } from "./check.ts";

export const BIN = resolve(import.meta.dirname, "../../bin/perdure.js");

export interface Finished {
  code: number;
  stdout: string;
  stderr: string;
}

/** An empty HOME with a state folder and a project of its own, and the real command line in it. */
export class Home {
  readonly dir = mkdtempSync(join(tmpdir(), "perdure-test-"));
  readonly project = join(this.dir, "api");
  readonly state = join(this.dir, ".local", "state", "perdure");
  readonly env: Record<string, string>;
  readonly #children: ChildProcess[] = [];

  constructor(env: Record<string, string> = {}) {
    chmodSync(this.dir, 0o700);
    mkdirSync(this.project);
    this.env = {
      PATH: process.env.PATH ?? "/usr/bin:/bin",
      HOME: this.dir,
      LANG: "C.UTF-8",
      TERM: "xterm-256color",
      ...env,
    };
  }

  /** Runs perdure to its end. */
  async perdure(args: string[], options: SpawnOptions = {}): Promise<Finished> {
    return finish(this.spawn(args, options));
  }

  /** Runs perdure to its end with `--json` and returns the parsed document, whatever the exit code. */
  async json<T>(args: string[], options: SpawnOptions = {}): Promise<T> {
    const dashes = args.indexOf("--");
    const at = dashes < 0 ? args.length : dashes;
    const { stdout, stderr } = await this.perdure([...args.slice(0, at), "--json", ...args.slice(at)], options);
    try {
      return JSON.parse(stdout) as T;
    } catch (cause) {
      throw new Error(`not JSON: ${JSON.stringify(stdout)} (stderr: ${stderr})`, { cause });
    }
  }

  /** Starts perdure and does not wait. `clear` ends it if it still runs. */
  spawn(args: string[], options: SpawnOptions = {}): ChildProcess {
    const child = spawn(BIN, args, { cwd: this.project, env: this.env, stdio: ["ignore", "pipe", "pipe"], ...options });
    this.#children.push(child);
    return child;
  }

  /** Starts a worker in the background, and waits until the daemon sees it run. */
  async start(
    name: string,
    command: string[],
    options: SpawnOptions = {},
  ): Promise<{ child: ChildProcess; worker: WorkerSummary }> {
    const child = this.spawn(["run", name, "--", ...command], options);
    const worker = await this.until(name, ({ state, run }) => state !== "starting" && run !== null);
    return { child, worker };
  }

  /** Asks the daemon, who is the one to know, until the worker is as wanted. */
  async until(name: string, wanted: (worker: WorkerSummary) => boolean): Promise<WorkerSummary> {
    let last: WorkerSummary[] = [];
    let found: WorkerSummary | undefined;
    const reached = async (): Promise<boolean> => {
      last = await this.workers();
      found = last.find((worker) => worker.name === name && wanted(worker));
      return found !== undefined;
    };
    await eventually(`${name} to be as wanted`, reached, 20_000).catch((error: unknown) => {
      throw new Error(`${String(error)}: ${JSON.stringify(last)}`, { cause: error });
    });
    if (found === undefined) throw new Error(`${name} is gone`);
    return found;
  }

  /** The workers of the project, as `ls` lists them. It takes a tenth of the time of a command, and a new connection: the last daemon may be dead. */
  async workers(): Promise<WorkerSummary[]> {
    const { identity, root, base } = findProject(this.project);
    const client = await connectToDaemon({ env: this.env });
    const here = { identity, root, base, guessed: true as const };
    return (await client.collect("ls", { here, project: null, all: false }).finally(() => client.close())).items;
  }

  /** The daemon's pid as it wrote it down; null when none runs. */
  daemonPid(): number | null {
    try {
      return (JSON.parse(readFileSync(join(this.state, "daemon.json"), "utf8")) as { pid: number }).pid;
    } catch {
      return null;
    }
  }

  /** The processes that carry a run of this home; another home may have a run of the same id. */
  processesOf(run: string): ProcessInfo[] {
    return carriers(processTable(), this.#mark(run));
  }

  #mark(run: string): RunMark {
    return { run, socket: join(this.state, "perdure.sock") };
  }

  /** Sends SIGKILL to every process of a run, until there is none: one that is listed may still start another. */
  killRun(run: string): void {
    const table = processTable();
    for (let left = this.processesOf(run); left.length > 0; left = this.processesOf(run))
      for (const process of left) signalRunProcess(table, process, this.#mark(run), "SIGKILL");
  }

  /** Ends the tmux server of this home, with every pane. */
  killTmux(): void {
    const socket = join(this.state, "tmux");
    if (existsSync(socket)) spawnSync("tmux", ["-S", socket, "kill-server"], { stdio: "ignore" });
  }

  git(args: string[], cwd = this.project): void {
    const identity = {
      GIT_AUTHOR_NAME: "t",
      GIT_AUTHOR_EMAIL: "t@t",
      GIT_COMMITTER_NAME: "t",
      GIT_COMMITTER_EMAIL: "t@t",
    };
    execFileSync("git", args, { cwd, env: { ...this.env, ...identity }, stdio: "ignore" });
  }

  /** A process that was killed, or that a vendor's program left behind, may write into the home until it is really gone. */
  async #untilNobodyWrites(): Promise<void> {
    await eventually("the processes of the home to be gone", () => {
      const left = processTable().withVariable("HOME", this.dir);
      if (left.length > 0) spawnSync("kill", ["-KILL", ...left.map(({ pid }) => String(pid))], { stdio: "ignore" });
      return left.length === 0;
    });
  }

  /** Ends what was started here, by run and by pid, and removes the folder. */
  async clear(): Promise<void> {
    mkdirSync(this.project, { recursive: true }); // a test may have moved it, and perdure is called from there
    if (existsSync(this.state)) {
      const { workers } = await this.json<{ workers?: WorkerSummary[] }>(["ls", "--all"]);
      // First of all: it would start again what is killed.
      await this.perdure(["daemon", "stop"]);
      for (const { run } of workers ?? []) if (run) this.killRun(run.id);
      this.killTmux();
    }
    for (const child of this.#children) if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
    await this.#untilNobodyWrites();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

export async function finish(child: ChildProcess): Promise<Finished> {
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk));
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  return { code: code ?? (signal ? -1 : 0), stdout, stderr };
}
