import { spawn } from "node:child_process";
import { NOTICE_COMMAND_MS, NOTICE_STDERR_BYTES } from "../../limits/index.ts";
import { findProgram } from "../../runtime/find-program.ts";
import { endGroup } from "../../vendors/shared/child-group.ts";

/** Runs a program of the user's with a text on its standard input, without a shell; returns why it failed, or null. */
export async function runProgram(
  [word = "", ...args]: readonly string[],
  input: string,
  environment: Readonly<Record<string, string>>,
): Promise<string | null> {
  const cwd = environment.HOME || "/";
  const program = findProgram(word.replace(/^~\//, `${cwd}/`), environment.PATH, cwd);
  if ("missing" in program) return program.missing;
  // The child leads a process group, so that its own children are ended with it.
  const child = spawn(program.file, args, {
    cwd,
    env: environment,
    detached: true,
    stdio: ["pipe", "ignore", "pipe"],
  });
  const { promise, resolve } = Promise.withResolvers<string | null>();
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr = (stderr + text).slice(-NOTICE_STDERR_BYTES)));
  child.stdin.on("error", () => undefined); // a program need not read what it is told
  child.stdin.end(input);
  const timer = setTimeout(() => {
    endGroup(child.pid);
    resolve(`${word} took longer than ${NOTICE_COMMAND_MS / 1_000} s and was ended`);
  }, NOTICE_COMMAND_MS);
  child.on("error", (error) => resolve(`${word} could not be started: ${error.message}`));
  // A child of the program may keep its output open: the program's own end is what counts.
  child.on("exit", (code, signal) => {
    setImmediate(() => resolve(code === 0 ? null : failure(word, code, signal, stderr)));
  });
  return promise.finally(() => {
    clearTimeout(timer);
    child.stderr.destroy();
  });
}

function failure(word: string, code: number | null, signal: string | null, stderr: string): string {
  const end = code === null ? `was ended by ${signal ?? "a signal"}` : `ended with ${code}`;
  const words = stderr.trim().split("\n").at(-1)?.trim();
  return words ? `${word} ${end}: ${words}` : `${word} ${end}`;
}
