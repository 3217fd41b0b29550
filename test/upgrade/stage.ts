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

/** The version before, as scripts/record-version.js has kept it. */
const PACKED = resolve(import.meta.dirname, "fixtures/perdure-0.1.tar.gz");

/**
 * A home in which the version before is installed as a package. It is replaced under everything that runs, as npm would do it:
 * whoever starts a daemon from there afterwards, an old client too, starts the new one.
 */
export class UpgradeHome extends FleetHome {
  /** What `perdure` is in this home. */
  readonly installed = join(this.dir, "node_modules", "perdure");
  /** The version before once more, where nobody replaces it: for an old command line after the upgrade, and for vendors. */
  readonly kept = join(this.dir, "perdure-0.1");
  readonly #children: ChildProcess[] = [];
  #upgraded = false;

  constructor(toml: string, env: Record<string, string> = {}) {
    super(toml, env);
    mkdirSync(this.kept);
    execFileSync("tar", ["-xzf", PACKED, "-C", this.kept, "--strip-components=1"]);
    mkdirSync(join(this.kept, "node_modules"));
    symlinkSync(realpathSync(join(CHECKOUT, "node_modules/node")), join(this.kept, "node_modules/node"));
    cpSync(this.kept, this.installed, { recursive: true, verbatimSymlinks: true });
    this.#dress("claude");
    this.#dress("codex");
  }

  /** With the version before until the upgrade, with this checkout's after it. */
  override spawn(args: string[], options: SpawnOptions = {}): ChildProcess {
    return this.#upgraded ? super.spawn(args, options) : this.#spawnFrom(this.installed, args, options);
  }

  /** The command line of the version before, whoever serves. */
  async old(args: string[], options: SpawnOptions = {}): Promise<Finished> {
    return finish(this.#spawnFrom(this.kept, args, options));
  }

  /** `perdure run`, as a person would, over a pipe. */
  talk(name: string, words: string[] = []): Talk {
    const child = this.spawn(["run", name, ...words], { stdio: ["pipe", "pipe", "pipe"] });
    child.stdin?.on("error", () => undefined); // one that ended early shows in its exit code
    return new Talk(child);
  }

  /** A connection whose hello is word for word that of the version before. */
  async greet(): Promise<RawClient> {
    const raw = await RawClient.open(join(this.state, "perdure.sock"));
    raw.send({ protocol: 4, version: "0.1.0", token: null });
    const welcome = await raw.next();
    if (welcome?.error) throw new Error(`hello: ${welcome.error.message}`);
    return raw;
  }

  /** One call in the words of the version before, which every daemon here understands. Null when it is refused. */
  async call<T>(name: string, params: object): Promise<T | null> {
    const raw = await this.greet();
    raw.send({ id: 1, call: name, params });
    const [answer] = await raw.take(1);
    raw.close();
    return (answer?.result as T | undefined) ?? null;
  }

  /** Over the socket: what is looked at again and again need not cost a process each time. */
  override async show(name: string): Promise<WorkerDetail> {
    const found = await this.#look(name);
    if (found === null) throw new Error(`there is no ${name}`);
    return found;
  }

  override async until(name: string, wanted: (worker: WorkerSummary) => boolean): Promise<WorkerSummary> {
    let last: WorkerDetail | null = null;
    const isReached = async (): Promise<boolean> => {
      last = await this.#look(name);
      return last !== null && wanted(last);
    };
    await eventually(`${name} to be as wanted`, isReached, 20_000).catch((error: unknown) => {
      throw new Error(`${String(error)}: ${JSON.stringify(last)}`, { cause: error });
    });
    return last ?? this.show(name);
  }

  #look(name: string): Promise<WorkerDetail | null> {
    return this.call("show", { target: { project: null, name, here: projectRefOf(this) } });
  }

  /** Replaces the installed package; what runs goes on from what it has read. */
  install(): void {
    renameSync(this.installed, `${this.installed}.replaced`);
    symlinkSync(CHECKOUT, this.installed);
    this.#upgraded = true;
  }

  /** A crash, in the middle of whatever it does. */
  async killDaemon(): Promise<void> {
    const pid = this.#daemon();
    process.kill(pid, "SIGKILL");
    await gone(pid);
  }

  /** As docs/operating.md tells whoever upgrades. */
  async stopDaemon(): Promise<void> {
    const pid = this.#daemon();
    const { code, stderr } = await this.perdure(["daemon", "stop"]);
    if (code !== 0) throw new Error(`daemon stop: ${code} ${stderr}`);
    await gone(pid);
  }

  /** Which program the daemon runs: the real path of its script. */
  daemonScript(): string {
    const script = processTable()
      .argv(this.#daemon())
      .find((word) => word.endsWith("daemon.cjs"));
    return script === undefined ? "none" : realpathSync(script);
  }

  /** SIGKILL to all that was started here: by pid, found by this home alone. */
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

  /** Puts the old small agent on PATH under a vendor's name: a vendor's program stays what it is when perdure is upgraded. */
  #dress(vendor: "claude" | "codex"): void {
    const bin = join(this.dir, "bin");
    mkdirSync(bin, { recursive: true });
    const agent = join(this.kept, "bin/perdure-scripted.js");
    const script = `#!/bin/sh
if [ "$1" = --version ]; then echo '${vendor} persona'; exit; fi
PERDURE_SCRIPTED_LAYOUT=${vendor} PERDURE_SCRIPTED_PERSONA=${vendor} exec '${agent}' "$@"
`;
    writeFileSync(join(bin, vendor), script, { mode: 0o755 });
    if (!this.env.PATH?.startsWith(`${bin}:`)) this.env.PATH = `${bin}:${this.env.PATH}`;
  }
}

/** The daemon of this checkout, as `daemonScript` tells it. */
export const NEW_DAEMON = join(realpathSync(CHECKOUT), "dist/daemon.cjs");

function gone(pid: number): Promise<void> {
  return eventually(`the end of daemon ${pid}`, () => processTable().inspect(pid) === null);
}
