import type { ChildProcess } from "node:child_process";
import { finish, type Finished } from "./home.ts";

/** A conversation with an agent over a pipe. It waits for output, never for a time. */
export class Talk {
  readonly child: ChildProcess;
  readonly ended: Promise<Finished>;
  #output = "";
  #readUpTo = 0;

  constructor(child: ChildProcess) {
    this.child = child;
    this.ended = finish(child);
    child.stdout?.on("data", (chunk: string) => (this.#output += chunk));
  }

  get pid(): number {
    return this.child.pid ?? -1;
  }

  /** The agent's output up to its next prompt. */
  async answer(): Promise<string> {
    return (await this.until(/([^]*?)(^|\n)> /))[1] ?? "";
  }

  /** Types a line, and returns the output before the next prompt. */
  async say(line: string): Promise<string> {
    this.type(line);
    return this.answer();
  }

  type(line: string): void {
    this.child.stdin?.write(`${line}\n`);
  }

  /** Waits until the output since the last wait matches the pattern. */
  async until(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.#output.slice(this.#readUpTo));
      if (match) {
        this.#readUpTo += match.index + match[0].length;
        return match;
      }
      const more = new Promise<"more">((resolved) => this.child.stdout?.once("data", () => resolved("more")));
      const next = await Promise.race([more, this.ended]);
      if (next !== "more" && !pattern.test(this.#output.slice(this.#readUpTo))) {
        throw new Error(`ended with ${next.code} before ${String(pattern)}: ${this.#output}${next.stderr}`);
      }
    }
  }

  /** Closes the agent's input and waits for its end. */
  async end(): Promise<Finished> {
    this.child.stdin?.end();
    return this.ended;
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }
}
