import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { DownItem, PaneRecord, UpItem, UpResult } from "../../src/protocol/records/fleet.ts";
import type { WorkerDetail, WorkerSummary } from "../../src/protocol/records/worker.ts";
import { processTable, type ProcessInfo } from "../../src/runtime/process/index.ts";
import { eventually } from "./check.ts";
import { Home, type Finished } from "./home.ts";

/** A home whose project has a fleet file, with a real daemon, real tmux and scripted agents. */
export class FleetHome extends Home {
  constructor(toml: string, env: Record<string, string> = {}) {
    super(env);
    this.write(toml);
  }

  write(toml: string): void {
    writeFileSync(join(this.project, "perdure.toml"), toml);
  }

  async up(...args: string[]): Promise<UpResult & { workers: UpItem[] }> {
    return this.json(["up", "--yes", ...args]);
  }

  async down(...args: string[]): Promise<{ workers: DownItem[] }> {
    return this.json(["down", ...args]);
  }

  /** Waits until every worker is idle and proved to be in its conversation. */
  async untilIdle(): Promise<WorkerSummary[]> {
    let last: WorkerSummary[] = [];
    await eventually("every worker to be idle and proved", async () => {
      last = await this.workers();
      return last.length > 0 && last.every(({ state, session }) => state === "idle" && session?.proved === true);
    });
    return last;
  }

  async pane(name: string): Promise<PaneRecord> {
    return this.json(["attach", name]);
  }

  /** Types a line in a worker's pane, as a person would. */
  async type(name: string, line: string): Promise<void> {
    const { socket, pane } = await this.pane(name);
    const tmux = (...args: string[]): void => void execFileSync("tmux", ["-S", socket, ...args]);
    tmux("send-keys", "-t", pane, "-l", line);
    tmux("send-keys", "-t", pane, "Enter");
  }

  /** Types a line, and waits until the worker's transcript has it. */
  async say(name: string, line: string): Promise<void> {
    await this.type(name, line);
    await this.untilHeard(name, line);
  }

  async untilHeard(name: string, line: string): Promise<void> {
    await eventually(`${name} to have heard ${line}`, async () => (await this.transcript(name)).includes(line));
  }

  /** The transcript of the worker's conversation; empty if there is none yet. */
  async transcript(name: string): Promise<string> {
    const file = await this.transcriptOf(name);
    return existsSync(file) ? readFileSync(file, "utf8") : "";
  }

  async transcriptOf(name: string): Promise<string> {
    const { session } = await this.show(name);
    return join(this.dir, ".local/share/perdure-scripted/sessions", `${session?.id}.jsonl`);
  }

  async show(name: string): Promise<WorkerDetail> {
    return this.json(["show", name]);
  }

  async logs(name: string): Promise<Finished> {
    return this.perdure(["logs", name]);
  }

  /** The run's variables in the environment of the pane's program. */
  async environmentOf(pid: number): Promise<Record<string, string>> {
    const table = processTable();
    const agent = table.children(pid)[0] ?? pid;
    const names = ["PERDURE_TOKEN", "PERDURE_RUN"];
    return Object.fromEntries(names.map((name) => [name, table.variable(agent, name) ?? ""]));
  }

  /** All processes of this home: the daemon, tmux and the programs in its panes. */
  processes(): ProcessInfo[] {
    const table = processTable();
    const found = [
      ...table.withVariable("PERDURE_SOCKET", join(this.state, "perdure.sock")),
      ...table.withVariable("HOME", this.dir),
    ];
    return [...new Map(found.map((info) => [info.pid, info])).values()];
  }

  /** Starts the daemon as the user's systemd would, and waits until it serves: a command would else start one of its own. */
  async service(): Promise<void> {
    const unit = [join(import.meta.dirname, "../../dist/daemon.cjs"), "--service"];
    const child = spawn(process.execPath, unit, { env: this.env, stdio: "ignore", detached: true });
    child.unref();
    await eventually("the service to serve", () => this.daemonPid() === child.pid);
  }

  /** Sends SIGKILL to all processes of this home, as a power cut would. */
  async killEverything(): Promise<void> {
    await eventually("nothing to be left", () => {
      const isTmux = ({ command }: ProcessInfo): number => (command.startsWith("tmux") ? 0 : 1);
      const left = this.processes()
        .toSorted((a, b) => isTmux(a) - isTmux(b))
        .map(({ pid }) => String(pid));
      // Stopped first, tmux before what it would wake; and killed last, because a lost terminal wakes what was in it: nobody
      // sees another one die. Some are gone by their turn.
      spawnSync("kill", ["-STOP", ...left], { stdio: "ignore" });
      spawnSync("kill", ["-KILL", ...left.toReversed()], { stdio: "ignore" });
      return left.length === 0;
    });
  }
}

export function fleetHome(toml: string, env: Record<string, string> = {}): FleetHome {
  const made = new FleetHome(toml, env);
  onTestFinished(() => made.clear());
  return made;
}

export function byName<T extends { name: string }>(items: readonly T[]): Record<string, T> {
  return Object.fromEntries(items.map((item) => [item.name, item]));
}
