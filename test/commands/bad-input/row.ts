import type { ErrorCode } from "../../../src/protocol/errors.ts";

/** One wrong command line, and the error that has to come back. */
export interface BadInput {
  args: string[];
  exit: number;
  code: ErrorCode;
  message: RegExp;
  hint: RegExp;
  /** A folder of BadInputHome; the project `api` if absent. */
  cwd?: string;
  /** `{home}` stands for the home's folder. */
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
