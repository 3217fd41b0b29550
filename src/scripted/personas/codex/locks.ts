import { closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { HELD_VARIABLE } from "../../held.ts";
import { Refusal } from "../../persona.ts";

/** `thread-writer-locks/<uuid>.lock`: a lock of the kernel, from before the first prompt to the end of the process. */
export class WriterLocks {
  /** The conversation this process was exec'd to hold. */
  readonly settled: string | null;
  readonly #folder: string;
  readonly #held: Set<string>;

  constructor(folder: string, settled: string | null) {
    this.settled = settled;
    this.#folder = folder;
    this.#held = new Set(settled === null ? [] : [settled]);
  }

  /**
   * Node cannot lock, so flock(1) locks an open file of ours: the lock belongs to the open file, and stays when flock has
   * gone. One of an earlier conversation is kept too, as the real one keeps it for a while.
   */
  take(id: string): void {
    if (this.#held.has(id)) return;
    mkdirSync(this.#folder, { recursive: true });
    const fd = openSync(this.#fileOf(id), "a+");
    const { spawnSync } = process.getBuiltinModule("node:child_process"); // 5 ms of other layouts' starts otherwise
    const { status, error } = spawnSync("flock", ["--nonblock", "--conflict-exit-code", String(CONFLICT), "3"], {
      stdio: ["ignore", "ignore", "inherit", fd],
    });
    if (error) throw new Error("the codex layout needs flock(1)", { cause: error });
    if (status === 0) {
      this.#held.add(id);
      return;
    }
    closeSync(fd);
    if (status !== CONFLICT) throw new Error(`flock ended with ${status}`);
    throw new Refusal(
      `Error: thread/resume: thread/resume failed: thread ${id} already has an active writer (code -32600)`,
    );
  }

  /**
   * The kernel's list of locks names the process that called flock, and that one is gone. So this process becomes flock,
   * which locks and becomes this program again: the same pid all along, and it is the one in the list. Whoever takes the
   * lock in the instant between has it, and flock ends with 1, as the refusal above would.
   */
  settle(id: string): void {
    if (this.settled !== null || process.platform !== "linux" || process.execve === undefined) return;
    const flock = ["flock", "--no-fork", "--nonblock", "--conflict-exit-code", "1", this.#fileOf(id)];
    const again = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
    process.execve("/usr/bin/env", ["env", ...flock, ...again], { ...process.env, [HELD_VARIABLE]: id });
  }

  #fileOf(id: string): string {
    return join(this.#folder, `${id}.lock`);
  }
}

const CONFLICT = 9;
