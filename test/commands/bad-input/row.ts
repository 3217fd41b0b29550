import type { ErrorCode } from "../../../src/protocol/errors.ts";

/** One way to get it wrong, and what has to come back. */
export interface BadInput {
  args: string[];
  exit: number;
  code: ErrorCode;
  message: RegExp;
  hint: RegExp;
  /** A folder of the stage; the project `api` unless told. */
  cwd?: string;
  /** `{home}` stands for the stage's folder. */
  env?: Record<string, string>;
}

type Words = string | string[];
type Extras = Pick<BadInput, "cwd" | "env">;

export function row(
  args: Words,
  exit: number,
  code: ErrorCode,
  message: RegExp,
  hint: RegExp,
  extras: Extras = {},
): BadInput {
  const words = typeof args === "string" ? args.split(" ").filter(Boolean) : args;
  return { args: words, exit, code, message, hint, ...extras };
}

export const usage = (args: Words, message: RegExp, hint: RegExp, extras: Extras = {}): BadInput =>
  row(args, 2, "usage", message, hint, extras);
export const missing = (args: Words, message: RegExp, hint: RegExp, extras: Extras = {}): BadInput =>
  row(args, 3, "not-found", message, hint, extras);
export const conflict = (args: Words, message: RegExp, hint: RegExp, extras: Extras = {}): BadInput =>
  row(args, 4, "conflict", message, hint, extras);
