import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { RUN_FIFOS_LEAST, RUN_FIFOS_MADE_AT_ONCE } from "../../limits/index.ts";
import { ALIVE_FIFO } from "../../runtime/process/run-fifo.ts";
import { isErrno } from "../../state/files.ts";
import type { BaseServices } from "../base-services.ts";

const exec = promisify(execFile);

/** Has fifos ready for new runs. Node cannot make one, and a program for each claim would cost more than the claim. */
export class FifoPool {
  readonly #services: Pick<BaseServices, "paths" | "processes" | "log">;
  #ready: string[] | null = null;
  #refilling: Promise<void> | null = null;
  #made = 0;

  constructor(services: Pick<BaseServices, "paths" | "processes" | "log">) {
    this.#services = services;
  }

  /** Resolves when a fifo can be taken, or cannot be had: then the run has none, and another namespace cannot judge it. */
  async refill(): Promise<void> {
    // Without namespaces every process can be seen, and no run needs a fifo.
    if (this.#services.processes.namespace() === "") return;
    if (this.#ready === null || !existsSync(this.#services.paths.fifos)) this.#ready = this.#leftovers();
    if (this.#ready.length < RUN_FIFOS_LEAST) this.#refilling ??= this.#make().finally(() => (this.#refilling = null));
    if (this.#ready.length === 0) await this.#refilling;
  }

  /** Moves a fifo into the folder of a run, inside the change that claims: a run on disk has its fifo. */
  placeIn(runDir: string): void {
    try {
      mkdirSync(runDir, { recursive: true, mode: 0o700 });
      while (this.#ready !== null && this.#ready.length > 0) if (this.#moveNext(this.#ready, runDir)) return;
    } catch (error) {
      this.#services.log(`${runDir} has no fifo: ${String(error)}`);
    }
  }

  /** Moves the next fifo; returns false for one that somebody has removed. */
  #moveNext(ready: string[], runDir: string): boolean {
    try {
      renameSync(join(this.#services.paths.fifos, ready.pop() ?? ""), join(runDir, ALIVE_FIFO));
      return true;
    } catch (error) {
      if (isErrno(error, "ENOENT")) return false;
      throw error;
    }
  }

  /** Returns the fifos that an earlier daemon made and did not need. */
  #leftovers(): string[] {
    mkdirSync(this.#services.paths.fifos, { recursive: true, mode: 0o700 });
    return readdirSync(this.#services.paths.fifos);
  }

  async #make(): Promise<void> {
    const names = Array.from({ length: RUN_FIFOS_MADE_AT_ONCE }, () => `${process.pid}-${Date.now()}-${this.#made++}`);
    try {
      await exec("mkfifo", ["-m", "600", ...names], {
        cwd: this.#services.paths.fifos,
        env: { PATH: "/usr/bin:/bin" },
      });
      this.#ready?.push(...names);
    } catch (error) {
      this.#services.log(`no fifos for runs: ${String(error)}`);
    }
  }
}
