import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { processTable } from "../../../src/runtime/process/index.ts";
import { findTmux } from "../../../src/runtime/tmux/find.ts";
import { TmuxServer } from "../../../src/runtime/tmux/server.ts";
import type { StartRequest } from "../../../src/runtime/tmux/start-commands.ts";

/** A folder with the socket of a tmux server of its own; `clear` ends the server and removes the folder. */
export class TmuxFixture {
  readonly dir: string;
  readonly socket: string;
  readonly log: string[] = [];
  readonly env: Record<string, string>;
  readonly #servers: TmuxServer[] = [];

  /** The folder must be short: a socket's path is. */
  constructor(dir = mkdtempSync(join(tmpdir(), "pt-"))) {
    this.dir = dir;
    this.socket = join(dir, "t");
    this.env = { PATH: process.env.PATH ?? "/usr/bin:/bin", HOME: dir, LANG: "C.UTF-8", SECRET: "nobody's" };
  }

  /** A TmuxServer as a daemon that has just started makes it. */
  server(more: Partial<ConstructorParameters<typeof TmuxServer>[0]> = {}): TmuxServer {
    const { socket, env: environment } = this;
    const tmux = findTmux(process.env.PATH);
    const server = new TmuxServer({
      socket,
      tmux,
      environment,
      log: (line) => this.log.push(line),
      processes: processTable(),
      ...more,
    });
    this.#servers.push(server);
    return server;
  }

  request(worker: string, argv: readonly string[], more: Partial<StartRequest> = {}): StartRequest {
    const run = `host.api.${worker}.1`;
    const env = { PERDURE_RUN: run };
    return { project: "api", worker, workerId: `id-${worker}`, group: null, run, env, cwd: this.dir, argv, ...more };
  }

  /** Runs tmux against this server's socket and returns its output. */
  tmux(...args: string[]): string {
    return execFileSync("tmux", ["-u", "-N", "-S", this.socket, ...args], {
      encoding: "utf8",
      stdio: "pipe",
    }).trimEnd();
  }

  serverPid(): number {
    return Number(this.tmux("display-message", "-p", "#{pid}"));
  }

  /** The pids of the server's control clients. */
  clientPids(): number[] {
    return this.tmux("list-clients", "-F", "#{client_pid}").split("\n").filter(Boolean).map(Number);
  }

  async clear(): Promise<void> {
    for (const server of this.#servers) {
      await server.kill();
      server.close();
    }
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** A program that runs until it is ended. */
export const SLEEP = ["/bin/sleep", "1000"];
export const sh = (script: string): string[] => ["/bin/sh", "-c", script];
