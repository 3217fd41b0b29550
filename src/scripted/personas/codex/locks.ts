import { closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { REEXEC_VARIABLE, PersonaRefusal } from "../../persona.ts";

/** `thread-writer-locks/<uuid>.lock`: a lock of the kernel, from before the first prompt to the end of the process. */
export class WriterLocks {
  /** The conversation whose lock this process was exec'd again to hold. */
  readonly lockedSession: string | null;
  readonly #folder: string;
  readonly #taken: Set<string>;

  constructor(folder: string, lockedSession: string | null) {
    this.lockedSession = lockedSession;
    this.#folder = folder;
    this.#taken = new Set(lockedSession === null ? [] : [lockedSession]);
  }

  /**
   * Takes the lock of one conversation. Node cannot lock, so flock(1) locks an open file of ours: the lock belongs to the
   * open file, and stays when flock has gone. Locks of earlier conversations are kept, as the real codex keeps them for a while.
   */
  take(id: string): void {
    if (this.#taken.has(id)) return;
    mkdirSync(this.#folder, { recursive: true });
    const fd = openSync(this.#fileOf(id), "a+");
    const { spawnSync } = process.getBuiltinModule("node:child_process"); // 5 ms of other personas' starts otherwise
    const { status, error } = spawnSync("flock", ["--nonblock", "--conflict-exit-code", String(CONFLICT), "3"], {
      stdio: ["ignore", "ignore", "inherit", fd],
    });
    if (error) throw new Error("the codex persona needs flock(1)", { cause: error });
    if (status === 0) {
      this.#taken.add(id);
      return;
    }
    closeSync(fd);
    if (status !== CONFLICT) throw new Error(`flock ended with ${status}`);
    throw new PersonaRefusal(
      `Error: thread/resume: thread/resume failed: thread ${id} already has an active writer (code -32600)`,
    );
  }

  /**
   * Makes this pid the one that the kernel's list of locks names. The list names the process that called flock, and that
   * one is gone; so this process becomes flock, which locks and becomes this program again, with the same pid all along.
   * If somebody takes the lock in the instant between, flock ends with 1, as the refusal above would.
   */
  execUnderLock(id: string): void {
    if (this.lockedSession !== null || process.platform !== "linux" || process.execve === undefined) return;
    const flock = ["flock", "--no-fork", "--nonblock", "--conflict-exit-code", "1", this.#fileOf(id)];
    const again = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
    process.execve("/usr/bin/env", ["env", ...flock, ...again], { ...process.env, [REEXEC_VARIABLE]: id });
  }

  #fileOf(id: string): string {
    return join(this.#folder, `${id}.lock`);
  }
}

const CONFLICT = 9;
