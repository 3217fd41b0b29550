import { execFileSync, spawn, type ChildProcess, type SpawnOptions } from "node:child_process";
import { cpSync, mkdirSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { WorkerDetail, WorkerSummary } from "../../src/protocol/records/worker.ts";
import { processTable } from "../../src/runtime/process/index.ts";
import { eventually } from "../support/check.ts";
import { projectRefOf } from "../support/send-params.ts";
import { RawClient } from "../daemon/server/raw-client.ts";
import { FleetHome } from "../support/fleet-home.ts";
import { Talk } from "../support/talk.ts";
import { finish, type Finished } from "../support/home.ts";

const CHECKOUT = resolve(import.meta.dirname, "../..");

/** The package of the old version, recorded by scripts/record-version.js. */
const PACKED = resolve(import.meta.dirname, "fixtures/perdure-0.1.tar.gz");

/**
 * A home in which the old version is installed as a package. `install` replaces it while everything runs, as npm would: a
 * daemon that is started from there afterwards, even by an old client, is the new one.
 */
export class UpgradeHome extends FleetHome {
  /** The folder of the package that `perdure` means in this home. */
  readonly installed = join(this.dir, "node_modules", "perdure");
  /** A second copy of the old version that is never replaced: for an old command line after the upgrade, and for vendors. */
  readonly oldPackage = join(this.dir, "perdure-0.1");
  readonly #children: ChildProcess[] = [];
  #upgraded = false;

  constructor(toml: string, env: Record<string, string> = {}) {
    super(toml, env);
    mkdirSync(this.oldPackage);
    execFileSync("tar", ["-xzf", PACKED, "-C", this.oldPackage, "--strip-components=1"]);
    mkdirSync(join(this.oldPackage, "node_modules"));
    symlinkSync(realpathSync(join(CHECKOUT, "node_modules/node")), join(this.oldPackage, "node_modules/node"));
    cpSync(this.oldPackage, this.installed, { recursive: true, verbatimSymlinks: true });
    this.#installVendor("claude");
    this.#installVendor("codex");
  }

  /** Runs the old version until the upgrade, and this checkout's after it. */
  override spawn(args: string[], options: SpawnOptions = {}): ChildProcess {
    return this.#upgraded ? super.spawn(args, options) : this.#spawnFrom(this.installed, args, options);
  }

  /** By the version that is installed: a client of this checkout would start a daemon of its own where none runs. */
  override async workers(): Promise<WorkerSummary[]> {
    return (await this.json<{ workers: WorkerSummary[] }>(["ls"])).workers;
  }

  /** Runs the command line of the old version, whichever daemon serves. */
  async runOld(args: string[], options: SpawnOptions = {}): Promise<Finished> {
    return finish(this.#spawnFrom(this.oldPackage, args, options));
  }

  /** Runs the command line of this checkout, whichever daemon serves. */
  async runNew(args: string[], options: SpawnOptions = {}): Promise<Finished> {
    return finish(super.spawn(args, options));
  }

  /** Starts `perdure run`, as a person would, over a pipe. */
  talk(name: string, words: string[] = []): Talk {
    const child = this.spawn(["run", name, ...words], { stdio: ["pipe", "pipe", "pipe"] });
    child.stdin?.on("error", () => undefined); // an early end shows in the exit code
    return new Talk(child);
  }

  /** Connects with exactly the hello of the old version. */
  async connectAsOldClient(): Promise<RawClient> {
    const raw = await RawClient.open(join(this.state, "perdure.sock"));
    raw.send({ protocol: 4, version: "0.1.0", token: null });
    const welcome = await raw.next();
    if (welcome?.error) throw new Error(`hello: ${welcome.error.message}`);
    return raw;
  }

  /** Makes one call with the protocol of the old version, which both daemons understand. Returns null when it is refused. */
  async call<T>(name: string, params: object): Promise<T | null> {
    const raw = await this.connectAsOldClient();
    raw.send({ id: 1, call: name, params });
    const [answer] = await raw.take(1);
    raw.close();
    return (answer?.result as T | undefined) ?? null;
  }

  /** Asks over the socket, because starting a process for each poll would be slow. */
  override async show(name: string): Promise<WorkerDetail> {
    const found = await this.#find(name);
    if (found === null) throw new Error(`there is no ${name}`);
    return found;
  }

  override async until(name: string, isReached: (worker: WorkerSummary) => boolean): Promise<WorkerSummary> {
    let last: WorkerDetail | null = null;
    const poll = async (): Promise<boolean> => {
      last = await this.#find(name);
      return last !== null && isReached(last);
    };
    await eventually(`${name} to reach the state`, poll, 20_000).catch((error: unknown) => {
      throw new Error(`${String(error)}: ${JSON.stringify(last)}`, { cause: error });
    });
    return last ?? this.show(name);
  }

  #find(name: string): Promise<WorkerDetail | null> {
    return this.call("show", { target: { project: null, name, here: projectRefOf(this) } });
  }

  /** Replaces the installed package; running processes keep the code they have loaded. */
  install(): void {
    renameSync(this.installed, `${this.installed}.replaced`);
    symlinkSync(CHECKOUT, this.installed);
    this.#upgraded = true;
  }

  /** Kills the daemon, whatever it is doing. */
  async killDaemon(): Promise<void> {
    const pid = this.#daemon();
    process.kill(pid, "SIGKILL");
    await untilGone(pid);
  }

  /** Stops the daemon, as docs/operating.md says for an upgrade. */
  async stopDaemon(): Promise<void> {
    const pid = this.#daemon();
    const { code, stderr } = await this.perdure(["daemon", "stop"]);
    if (code !== 0) throw new Error(`daemon stop: ${code} ${stderr}`);
    await untilGone(pid);
  }

  /** Returns the real path of the script that the daemon runs. */
  daemonScript(): string {
    const script = processTable()
      .argv(this.#daemon())
      .find((word) => word.endsWith("daemon.cjs"));
    return script === undefined ? "none" : realpathSync(script);
  }

  /** Kills everything that was started in this home, by pid. */
  override async clear(): Promise<void> {
    await this.killEverything();
    for (const child of this.#children) child.stdin?.destroy();
    rmSync(this.dir, { recursive: true, force: true });
  }

  #daemon(): number {
    const pid = this.daemonPid();
    if (pid === null) throw new Error("no daemon runs");
    return pid;
  }

  #spawnFrom(folder: string, args: string[], options: SpawnOptions): ChildProcess {
    const usual: SpawnOptions = { cwd: this.project, env: this.env, stdio: ["ignore", "pipe", "pipe"] };
    const child = spawn(join(folder, "bin/perdure.js"), args, { ...usual, ...options });
    this.#children.push(child);
    return child;
  }

  /** Puts the old scripted agent on PATH under a vendor's name: an upgrade of perdure does not change a vendor's program. */
  #installVendor(vendor: "claude" | "codex"): void {
    const bin = join(this.dir, "bin");
    mkdirSync(bin, { recursive: true });
    const agent = join(this.oldPackage, "bin/perdure-scripted.js");
    const script = `#!/bin/sh
if [ "$1" = --version ]; then echo '${vendor} persona'; exit; fi
PERDURE_SCRIPTED_LAYOUT=${vendor} PERDURE_SCRIPTED_PERSONA=${vendor} exec '${agent}' "$@"
`;
    writeFileSync(join(bin, vendor), script, { mode: 0o755 });
    if (!this.env.PATH?.startsWith(`${bin}:`)) this.env.PATH = `${bin}:${this.env.PATH}`;
  }
}

/** The script of this checkout's daemon, as `daemonScript` returns it. */
export const NEW_DAEMON = join(realpathSync(CHECKOUT), "dist/daemon.cjs");

function untilGone(pid: number): Promise<void> {
  return eventually(`the end of daemon ${pid}`, () => processTable().inspect(pid) === null);
}
