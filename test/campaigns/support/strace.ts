import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { check, within } from "../../support/check.ts";

/** Watches, or harms, the system calls of a process that already runs. What it saw is in its file when it has ended. */
export class Strace {
  readonly file: string;
  readonly ended: Promise<unknown>;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, file: string, ended: Promise<unknown>) {
    this.#child = child;
    this.file = file;
    this.ended = ended;
  }

  /** From when this resolves every call is seen. Throws with the reason if it may not be attached. */
  static async attach(pid: number, file: string, options: readonly string[]): Promise<Strace> {
    const args = ["-f", "-o", file, ...options, "-p", String(pid)];
    const child = spawn("strace", args, { stdio: ["ignore", "ignore", "pipe"] });
    const ended = once(child, "close");
    const said = once(child.stderr, "data").then(([chunk]) => String(chunk));
    const first = await within("strace", Promise.race([said, ended.then(() => "ended")]));
    check(first.includes("attached"), () => `strace of ${pid} said ${first}`);
    return new Strace(child, file, ended);
  }

  async detach(): Promise<void> {
    this.#child.kill("SIGINT");
    await within("strace to let go", this.ended);
  }
}

/** Why strace cannot be attached to a process of ours, or null. Some containers and kernels forbid it. */
export async function straceRefused(): Promise<string | null> {
  const idle = spawn("sleep", ["600"], { stdio: "ignore" });
  try {
    await once(idle, "spawn");
    const strace = await Strace.attach(idle.pid ?? 0, "/dev/null", ["-e", "trace=none"]);
    await strace.detach();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    idle.kill("SIGKILL");
  }
}

/** One system call as its line tells it. Begun and resumed are two lines: another thread came in between. */
export interface SystemCall {
  /** A resumed one is put together again. */
  text: string;
  line: "whole" | "begun" | "resumed";
}

/** The system calls of a trace, in the order in which they began and ended. */
export async function* systemCalls(file: string): AsyncGenerator<SystemCall> {
  const begun = new Map<string, string>();
  const UNFINISHED = " <unfinished ...>";
  for await (const each of createInterface({ input: createReadStream(file, "latin1") })) {
    const space = each.indexOf(" ");
    const thread = each.slice(0, space);
    const text = each.slice(space).trimStart();
    if (text.endsWith(UNFINISHED)) {
      const half = text.slice(0, -UNFINISHED.length);
      begun.set(thread, half);
      yield { text: half, line: "begun" };
    } else if (text.startsWith("<... ")) {
      yield { text: (begun.get(thread) ?? "") + text.slice(text.indexOf(">") + 1), line: "resumed" };
    } else {
      yield { text, line: "whole" };
    }
  }
}
