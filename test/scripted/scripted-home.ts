import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { finish, type Finished } from "../support/home.ts";
import { Talk } from "../support/talk.ts";

export const SCRIPTED = resolve(import.meta.dirname, "../../bin/perdure-scripted.js");

interface RunOptions {
  input?: string;
  env?: Record<string, string>;
  cwd?: string;
}

/** A HOME and a folder to work in, where the scripted agent runs with one vendor's persona. */
export class ScriptedHome {
  readonly dir = realpathSync(mkdtempSync(join(tmpdir(), "perdure-scripted-")));
  readonly work = join(this.dir, "work");
  readonly #persona: string;
  readonly #children: ChildProcess[] = [];

  constructor(persona: string) {
    this.#persona = persona;
    mkdirSync(this.work);
  }

  /** Runs the agent to its end. */
  async run(args: string[], { input = "", ...options }: RunOptions = {}): Promise<Finished> {
    const child = this.#spawn(args, options);
    child.stdin?.end(input);
    return finish(child);
  }

  /** Starts the agent as a person would, and goes on talking. */
  open(args: string[], options: RunOptions = {}): Talk {
    return new Talk(this.#spawn(args, options));
  }

  /** A file under the home, parsed line by line. */
  lines(...path: string[]): Record<string, unknown>[] {
    return readFileSync(join(this.dir, ...path), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  json(...path: string[]): Record<string, unknown> {
    return JSON.parse(readFileSync(join(this.dir, ...path), "utf8")) as Record<string, unknown>;
  }

  /** Every file below a folder of the home; none if there is no such folder. */
  files(folder: string): string[] {
    const all = readdirSync(this.dir, { recursive: true, withFileTypes: true });
    return all
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((file) => file.startsWith(`${join(this.dir, folder)}/`))
      .map((file) => file.slice(this.dir.length + 1));
  }

  clear(): void {
    for (const child of this.#children) if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
    rmSync(this.dir, { recursive: true, force: true });
  }

  #spawn(args: string[], { env = {}, cwd = this.work }: RunOptions): ChildProcess {
    const child = spawn(SCRIPTED, args, {
      cwd,
      env: {
        PATH: process.env.PATH ?? "/usr/bin:/bin",
        HOME: this.dir,
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
