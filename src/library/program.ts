import type { StdioOptions } from "node:child_process";
import { errorFromBody, PerdureError, type ErrorBody } from "../protocol/errors.ts";
import { hintOf, verb } from "../protocol/hint.ts";
import type { Link } from "./link.ts";
import { projectRefOf, type Surroundings } from "./surroundings.ts";
import { requireOptions, requireText, requireTexts } from "./require.ts";
import { runsOf } from "./runs.ts";
import { spawnVerb, streamText } from "./verb.ts";

export interface StartOptions {
  /** The folder the program runs in; a bare name belongs to that folder's project. */
  cwd?: string;
  env?: Record<string, string | undefined>;
  /** The vendor whose agent it is. The command is then that vendor's arguments alone; without any, those that are stored. */
  vendor?: string;
  /** For an agent without an adapter: the words that begin and resume a conversation, with `{id}` in one of each. */
  custom?: { new: readonly string[]; resume: readonly string[] };
  /** Begins a new conversation, or a new worker where `claim` would need `fresh`. */
  fresh?: boolean;
  /** The option of node:child_process; "ignore" by default, because the worker outlives this process. */
  stdio?: StdioOptions;
}

export interface StartedWorker {
  address: string;
  run: string;
  generation: number;
  pid: number;
}

/**
 * Starts a program under a name. Its process begins as `perdure run`, which claims the name and then becomes the program's wrapper; until
 * then it has a pipe, and on that pipe it says why it did not become one.
 * @internal
 */
export async function startProgram(
  link: Link,
  surroundings: Surroundings,
  name: string,
  command: readonly string[] | null,
  options: StartOptions,
): Promise<StartedWorker> {
  const cwd = requireText("cwd", options.cwd ?? surroundings.cwd);
  const given = command === null ? [] : ["--", ...requireTexts("words of the command", command)];
  const target = surroundings.target(name, projectRefOf(cwd));
  link.requireOpen();
  const stdio = stdioOf(options.stdio ?? "ignore");
  const child = await spawnVerb(["run", name, ...choicesOf(options), ...given], {
    cwd,
    env: { ...surroundings.env, ...options.env, PERDURE_ERROR_FD: String(stdio.length) },
    stdio: [...stdio, "pipe"],
    detached: true,
  });
  // The pipe ends with the process that begins as `run`, or with its becoming the wrapper.
  const said = await streamText(child.stdio[stdio.length] as NodeJS.ReadableStream | null | undefined);
  child.unref();
  if (said !== "") throw errorFromBody(JSON.parse(said) as ErrorBody);
  const record = (await runsOf(link, target)).find(({ pid }) => pid === child.pid);
  if (record === undefined) throw notStarted(name);
  const { address } = await (await link.client()).call("show", { target });
  return { address, run: record.id, generation: record.generation, pid: record.pid };
}

function choicesOf({ vendor, custom, fresh }: StartOptions): string[] {
  return [
    ...(vendor !== undefined || custom !== undefined ? ["--vendor", requireText("vendor", vendor ?? CUSTOM)] : []),
    ...(custom === undefined ? [] : [`--new-args=${words("new", custom)}`, `--resume-args=${words("resume", custom)}`]),
    ...(fresh === true ? ["--fresh"] : []),
  ];
}

/** The word for a program without an adapter that declares its words. */
const CUSTOM = "custom";

/** Joins declared words as the command line takes them, at spaces. */
function words(which: "new" | "resume", custom: NonNullable<StartOptions["custom"]>): string {
  const declared = requireTexts(`words of custom.${which}`, requireOptions(custom)[which]);
  const odd = declared.find((word) => word === "" || /\s/.test(word));
  if (odd === undefined) return declared.join(" ");
  throw new PerdureError("usage", `custom: ${JSON.stringify(odd)} is empty or has a space in it.`, {
    hint: "put such words into the command itself",
  });
}

/** Returns one entry for each stream of the program, in surroundings of one word for all of them. */
function stdioOf(stdio: StdioOptions): Exclude<StdioOptions, string>[number][] {
  if (typeof stdio === "string") return [stdio, stdio, stdio];
  return [...stdio, "ignore" as const, "ignore" as const, "ignore" as const].slice(0, Math.max(3, stdio.length));
}

function notStarted(name: string): PerdureError {
  return new PerdureError("refused", `${name} was ended before it had started.`, {
    hint: hintOf`see why: ${verb("run", name)}`,
  });
}
