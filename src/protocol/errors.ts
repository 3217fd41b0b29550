import { own } from "../util/own.ts";

/** The kinds of errors, with the exit code that the command line ends with. */
const EXIT_CODES = {
  internal: 1,
  usage: 2,
  "not-found": 3,
  held: 4,
  conflict: 4,
  displaced: 4,
  stale: 4,
  refused: 5,
  unsafe: 5,
  "timed-out": 6,
  full: 7,
  "too-fast": 7,
  unavailable: 7,
  "disk-full": 7,
  damaged: 7,
  version: 7,
} as const;

export type ErrorCode = keyof typeof EXIT_CODES;

/** The exit code of a kind of error, for a verb that ends with one and has said why itself. */
export function exitCodeOf(code: ErrorCode): number {
  return EXIT_CODES[code];
}

const RETRYABLE: ReadonlySet<ErrorCode> = new Set([
  "held",
  "timed-out",
  "full",
  "too-fast",
  "unavailable",
  "disk-full",
]);

export interface ErrorBody {
  code: ErrorCode;
  message: string;
  hint: string | null;
  retryable: boolean;
  details?: Record<string, unknown>;
}

interface ErrorExtras {
  hint?: string | undefined;
  details?: Record<string, unknown> | undefined;
  retryable?: boolean | undefined;
  cause?: unknown;
}

/** An error that a person or a program is meant to read: what was wrong, the value, the next command to try. */
export class PerdureError extends Error {
  override readonly name = "PerdureError";
  readonly code: ErrorCode;
  readonly hint: string | null;
  readonly retryable: boolean;
  readonly details: Record<string, unknown> | undefined;

  constructor(code: ErrorCode, message: string, extras: ErrorExtras = {}) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause });
    this.code = code;
    this.hint = extras.hint ?? null;
    this.retryable = extras.retryable ?? RETRYABLE.has(code);
    this.details = extras.details;
  }

  get exitCode(): number {
    return exitCodeOf(this.code);
  }

  toJSON(): ErrorBody {
    const body: ErrorBody = { code: this.code, message: this.message, hint: this.hint, retryable: this.retryable };
    if (this.details) body.details = this.details;
    return body;
  }
}

export function errorFromBody(body: ErrorBody): PerdureError {
  const code = body.code in EXIT_CODES ? body.code : "internal";
  return new PerdureError(code, body.message, {
    hint: body.hint ?? undefined,
    details: body.details,
    retryable: body.retryable,
  });
}

/** Errors of the operating system are not bugs of perdure, so they have a code and a hint of their own. */
const SYSTEM_ERRORS: Readonly<Record<string, { code: ErrorCode; hint: string }>> = {
  ENOSPC: { code: "disk-full", hint: "free some space and try again" },
  EDQUOT: { code: "disk-full", hint: "free some of your quota and try again" },
  EACCES: { code: "refused", hint: "check the permissions: ls -ld" },
  EPERM: { code: "refused", hint: "check the owner: ls -ld" },
  EROFS: { code: "refused", hint: "the file system is read-only: mount" },
  EEXIST: { code: "conflict", hint: "something else has that name: ls -ld" },
  ENOTDIR: { code: "conflict", hint: "a part of the path is not a folder: ls -ld" },
  EISDIR: { code: "conflict", hint: "a folder is where a file should be: ls -ld" },
  EMFILE: { code: "unavailable", hint: "too many open files: ulimit -n" },
  ENFILE: { code: "unavailable", hint: "too many open files on this machine" },
};

/** Recognises our errors by their shape: the command line is two bundles, each with a copy of the class. */
export function isPerdureError(thrown: unknown): thrown is PerdureError {
  return thrown instanceof Error && thrown.name === "PerdureError" && "exitCode" in thrown;
}

/** Turns anything thrown into one of our errors: ours as it is, another as `internal`, with its cause kept. */
export function asPerdureError(thrown: unknown): PerdureError {
  if (isPerdureError(thrown)) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const system = thrown instanceof Error && "code" in thrown ? own(SYSTEM_ERRORS, String(thrown.code)) : undefined;
  if (system) return new PerdureError(system.code, `${message}.`, { hint: system.hint, cause: thrown });
  return new PerdureError("internal", message, { cause: thrown });
}
