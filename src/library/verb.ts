import { spawn, type ChildProcess, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { asPerdureError, errorFromBody, PerdureError, type ErrorBody } from "../protocol/errors.ts";
import { DIST } from "../state/paths.ts";
import type { Surroundings } from "./surroundings.ts";

/**
 * Runs a verb of the command line and returns its JSON document. For verbs that work on the project's files, as a person would type
 * them there: the library does what they do, and says what they say.
 * @internal
 */
export async function callVerb<Result extends object>(
  surroundings: Surroundings,
  words: readonly string[],
): Promise<Result> {
  const child = await spawnVerb(words, {
    cwd: surroundings.cwd,
    env: surroundings.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [said, noted] = await Promise.all([streamText(child.stdout), streamText(child.stderr), ended(child)]);
  const answer = parsed(said);
  if (answer === null) {
    throw new PerdureError(
      "internal",
      `The verb ${words[0]} gave no answer: ${noted.trim() || said.trim() || "nothing"}`,
    );
  }
  if (isErrorDocument(answer)) throw errorFromBody(answer.error);
  return answer as Result;
}

/**
 * Starts a verb of the command line; resolves when its process is there.
 * @internal
 */
export async function spawnVerb(words: readonly string[], options: SpawnOptions): Promise<ChildProcess> {
  try {
    const child = spawn(process.execPath, [join(DIST, "cli.cjs"), ...words], options);
    await once(child, "spawn");
    return child;
  } catch (error) {
    throw asPerdureError(error);
  }
}

/**
 * Reads what a stream of a process says, to its end.
 * @internal
 */
export async function streamText(stream: NodeJS.ReadableStream | null | undefined): Promise<string> {
  return stream ? text(stream) : "";
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}

function parsed(said: string): object | null {
  try {
    const value: unknown = JSON.parse(said);
    return typeof value === "object" ? value : null;
  } catch {
    return null; // told by the caller, with what was said instead
  }
}

function isErrorDocument(answer: object): answer is { error: ErrorBody } {
  return "error" in answer && typeof answer.error === "object" && answer.error !== null;
}
