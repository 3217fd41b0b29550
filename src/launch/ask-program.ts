import { spawn } from "node:child_process";
import { ASK_PROGRAM_BYTES_MAX, ASK_PROGRAM_MS } from "../limits/index.ts";
import type { Variables } from "../protocol/records/conversation.ts";
import type { Adapter, AskProgram, ProgramAnswer } from "../vendors/adapter.ts";
import { endGroup } from "../vendors/shared/child-group.ts";
import { findProgram } from "../runtime/find-program.ts";
import { withVariables } from "./environment.ts";

/** The command and the surroundings in which a vendor's program is asked. */
export interface ProgramContext {
  /** The program and the words before its arguments. */
  command: readonly string[];
  cwd: string;
  environment: Readonly<Record<string, string>>;
  variables: Variables;
}

/** A vendor's program with everything that a start of it takes, except its arguments. */
export interface LocatedProgram {
  command: string[];
  cwd: string;
  environment: Record<string, string>;
}

/** Finds the program's file and completes its environment; `missing` says that there is none. */
export function locateProgram({
  command,
  cwd,
  environment,
  variables,
}: ProgramContext): LocatedProgram | { missing: string } {
  const [word = "", ...before] = command;
  const program = findProgram(word, environment.PATH, cwd);
  if ("missing" in program) return program;
  return { command: [program.file, ...before], cwd, environment: withVariables(environment, variables) };
}

/** Returns a function that asks a vendor's own program. A program that cannot be started answers like one that failed. */
export function programAsker(adapter: Pick<Adapter, "storage"> | null, context: ProgramContext): AskProgram {
  return async (args) => {
    const program = locateProgram({ ...context, variables: { ...context.variables, ...adapter?.storage.askedWith } });
    if ("missing" in program) return { code: 127, stdout: "", stderr: program.missing };
    const [file = "", ...before] = program.command;
    // The child leads a process group, so that its own children are ended with it.
    const child = spawn(file, [...before, ...args], {
      cwd: program.cwd,
      env: program.environment,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    return answerOf(child);
  };
}

function answerOf(child: ReturnType<typeof spawn>): Promise<ProgramAnswer> {
  const { promise, resolve } = Promise.withResolvers<ProgramAnswer>();
  const texts = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  const text = (name: "stdout" | "stderr"): string => Buffer.concat(texts[name]).toString("utf8");
  let bytes = 0;
  const end = (): void => {
    endGroup(child.pid);
    // A process that left the group may still hold the output open, so the end is not awaited.
    resolve({ code: null, stdout: text("stdout"), stderr: text("stderr") });
  };
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > ASK_PROGRAM_BYTES_MAX) end();
      else texts[name].push(chunk);
    });
  }
  const timer = setTimeout(end, ASK_PROGRAM_MS);
  child.on("error", (error) => resolve({ code: 126, stdout: "", stderr: error.message }));
  child.on("close", (code) => resolve({ code, stdout: text("stdout"), stderr: text("stderr") }));
  return promise.finally(() => clearTimeout(timer));
}
