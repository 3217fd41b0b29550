import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { finish, type Finished } from "../support/home.ts";

export const SCRIPTED = resolve(import.meta.dirname, "../../bin/perdure-scripted.js");

interface Circumstances {
  input?: string;
  env?: Record<string, string>;
  cwd?: string;
}

/** A HOME and a folder to work in, and the agent in them, in the clothes of one vendor. */
export class Stage {
  readonly home = realpathSync(mkdtempSync(join(tmpdir(), "perdure-scripted-")));
  readonly work = join(this.home, "work");
  readonly #persona: string;
  readonly #children: ChildProcess[] = [];

  constructor(persona: string) {
    this.#persona = persona;
    mkdirSync(this.work);
  }

  /** Runs to its end. */
  async run(args: string[], { input = "", ...circumstances }: Circumstances = {}): Promise<Finished> {
    const child = this.#spawn(args, circumstances);
    child.stdin?.end(input);
    return finish(child);
  }

  /** Starts it as a person would, and goes on talking. */
  open(args: string[], circumstances: Circumstances = {}): Talk {
    return new Talk(this.#spawn(args, circumstances));
  }

  /** A file under the home, parsed line by line. */
  lines(...path: string[]): Record<string, unknown>[] {
    return readFileSync(join(this.home, ...path), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  json(...path: string[]): Record<string, unknown> {
    return JSON.parse(readFileSync(join(this.home, ...path), "utf8")) as Record<string, unknown>;
  }

  /** Every file below a folder of the home; none if there is no such folder. */
  files(folder: string): string[] {
    const all = readdirSync(this.home, { recursive: true, withFileTypes: true });
    return all
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((file) => file.startsWith(`${join(this.home, folder)}/`))
      .map((file) => file.slice(this.home.length + 1));
  }

  clear(): void {
    for (const child of this.#children) if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
    rmSync(this.home, { recursive: true, force: true });
  }

  #spawn(args: string[], { env = {}, cwd = this.work }: Circumstances): ChildProcess {
    const child = spawn(SCRIPTED, args, {
      cwd,
      env: {
        PATH: process.env.PATH ?? "/usr/bin:/bin",
        HOME: this.home,
        LANG: "C.UTF-8",
        PERDURE_SCRIPTED_PERSONA: this.#persona,
        ...env,
      },
    });
    // One that ended early is what a test sees in its exit code.
    child.stdin.on("error", () => undefined);
    this.#children.push(child);
    return child;
  }
}

/** A conversation over a pipe: what was said is waited for, never how long it took. */
export class Talk {
  readonly child: ChildProcess;
  readonly ended: Promise<Finished>;
  #heard = "";
  #from = 0;

  constructor(child: ChildProcess) {
    this.child = child;
    this.ended = finish(child);
    child.stdout?.on("data", (chunk: string) => (this.#heard += chunk));
  }

  get pid(): number {
    return this.child.pid ?? -1;
  }

  /** What it says up to its next prompt. */
  async answer(): Promise<string> {
    return (await this.until(/([^]*?)(^|\n)> /))[1] ?? "";
  }

  /** Types a line, and returns what it says before it waits again. */
  async say(line: string): Promise<string> {
    this.type(line);
    return this.answer();
  }

  type(line: string): void {
    this.child.stdin?.write(`${line}\n`);
  }

  /** What was said since the last wait, as soon as it fits. */
  async until(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.#heard.slice(this.#from));
      if (match) {
        this.#from += match.index + match[0].length;
        return match;
      }
      const more = new Promise<"more">((resolved) => this.child.stdout?.once("data", () => resolved("more")));
      const next = await Promise.race([more, this.ended]);
      if (next !== "more" && !pattern.test(this.#heard.slice(this.#from))) {
        throw new Error(`ended with ${next.code} before ${String(pattern)}: ${this.#heard}${next.stderr}`);
      }
    }
  }

  /** Closes its input and waits for the end. */
  async end(): Promise<Finished> {
    this.child.stdin?.end();
    return this.ended;
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }
}
