import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { processTable } from "../../src/runtime/process/index.ts";
import { eventually } from "./check.ts";
import { BIN, finish, type Finished, type Home } from "./home.ts";

/** Tells why there can be no containers here; null if there can. */
export function whyNoContainers(): string | null {
  if (process.getuid?.() !== 0) return "a pid namespace that can be entered takes root";
  const tried = spawnSync("unshare", ["-p", "-u", "-f", "--mount-proc", "true"], { encoding: "utf8" });
  return tried.status === 0 ? null : `unshare: ${tried.stderr.trim()}`;
}

/**
 * A container as far as perdure can tell: a pid namespace with a /proc and a host name of its own, and the home that all
 * containers share. Containers do not see each other's processes; this process sees all of them.
 */
export class Container {
  readonly home: Home;
  readonly host: string;
  #unshare: ChildProcess | null = null;
  #init = 0;
  /** The parents, outside the container, of what was started in it. */
  readonly #entered = new Set<ChildProcess>();

  constructor(home: Home, host: string) {
    this.home = home;
    this.host = host;
  }

  get isRunning(): boolean {
    return this.#unshare !== null;
  }

  /** Starts the container, or starts it again: with another pid namespace. */
  async start(): Promise<void> {
    const init = 'hostname "$1"; echo ready; while :; do sleep 1000 & wait $!; done';
    const flags = ["-p", "-u", "-f", "--mount-proc", "--kill-child", "sh", "-c", init, "init", this.host];
    const child = spawn("unshare", flags, { stdio: ["ignore", "pipe", "ignore"], env: { PATH: this.home.env.PATH } });
    this.#unshare = child;
    if (child.stdout) await once(child.stdout, "data");
    this.#init = processTable().children(child.pid ?? 0)[0] ?? 0;
  }

  /** Runs perdure in the container to its end. */
  async perdure(args: string[]): Promise<Finished> {
    return finish(this.spawn([BIN, ...args]));
  }

  async json<T>(args: string[]): Promise<T> {
    const { stdout, stderr } = await this.perdure([...args, "--json"]);
    try {
      return JSON.parse(stdout) as T;
    } catch (cause) {
      throw new Error(`not JSON: ${JSON.stringify(stdout)} (stderr: ${stderr})`, { cause });
    }
  }

  /** Starts a program in the container and does not wait; it ends with the container. */
  spawn(command: readonly string[], env: Record<string, string> = {}): ChildProcess {
    const into = ["-t", String(this.#init), "-p", "-m", "-u", "sh", "-c", 'cd "$1"; shift; exec "$@"', "sh"];
    const child = spawn("nsenter", [...into, this.home.project, ...command], {
      env: { ...this.home.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#entered.add(child);
    child.once("exit", () => this.#entered.delete(child));
    return child;
  }

  /** Starts a worker and waits until its program runs: it prints "up" then, and lives until it is killed. */
  async startWorker(name: string, program = "echo up; exec sleep 1000"): Promise<ChildProcess> {
    const child = this.spawn([BIN, "run", name, "--", "sh", "-c", program]);
    let printed = "";
    child.stderr?.on("data", (text: Buffer) => (printed += String(text)));
    await new Promise<void>((resolve, reject) => {
      child.stdout?.once("data", () => resolve());
      child.once("exit", (code) =>
        reject(new Error(`${name} was not started in ${this.host}: exit ${code}, ${printed}`)),
      );
    });
    return child;
  }

  /** Kills everything in the container at once, as the kernel does when its first process ends. */
  async kill(): Promise<void> {
    const child = this.#unshare;
    if (child === null) return;
    this.#unshare = null;
    const gone = child.exitCode === null && child.signalCode === null ? once(child, "exit") : Promise.resolve();
    process.kill(this.#init, "SIGKILL");
    // nsenter stops with its child, and the kernel waits until every process of the namespace is reaped.
    for (const each of this.#entered) each.kill("SIGCONT");
    await gone;
    await eventually(`container ${this.host} to be gone`, () => processTable().inspect(this.#init) === null);
  }
}
