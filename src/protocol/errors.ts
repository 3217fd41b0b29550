import { errnoName } from "../util/errno-name.ts";
import { own } from "../util/own.ts";
import { hintText, toHint, type Hint, type HintLike } from "./hint.ts";

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
  /** The hint as text for a terminal, which is all that a program of the version before sends and reads. */
  hint: string | null;
  /** The same hint as words and commands; left out where there is none. */
  next?: Hint;
  retryable: boolean;
  details?: Record<string, unknown>;
}

interface ErrorExtras {
  hint?: HintLike | null | undefined;
  details?: Record<string, unknown> | undefined;
  retryable?: boolean | undefined;
  cause?: unknown;
}

/** An error that a person or a program is meant to read: what was wrong, the value, the next command to try. */
export class PerdureError extends Error {
  override readonly name = "PerdureError";
  readonly code: ErrorCode;
  /** The next step to try, as it is typed; null where there is none. */
  readonly hint: string | null;
  /** The next step to try, as words and commands; empty where there is none. */
  readonly next: Hint;
  readonly retryable: boolean;
  readonly details: Record<string, unknown> | undefined;

  constructor(code: ErrorCode, message: string, extras: ErrorExtras = {}) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause });
    this.code = code;
    this.next = toHint(extras.hint);
    this.hint = hintText(this.next);
    this.retryable = extras.retryable ?? RETRYABLE.has(code);
    this.details = extras.details;
  }

  get exitCode(): number {
    return exitCodeOf(this.code);
  }

  toJSON(): ErrorBody {
    const { code, message, hint, next, retryable } = this;
    const body: ErrorBody = { code, message, hint, ...(next.length > 0 && { next }), retryable };
    if (this.details) body.details = this.details;
    return body;
  }
}

export function errorFromBody(body: ErrorBody): PerdureError {
  const code = body.code in EXIT_CODES ? body.code : "internal";
  return new PerdureError(code, body.message, {
    hint: body.next ?? body.hint,
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
  ELOOP: { code: "refused", hint: "links lead in a circle: ls -ld" },
  ENXIO: { code: "refused", hint: "it is a socket or a device: ls -ld" },
  E2BIG: { code: "usage", hint: "it is longer than a command line may be: say less" },
  EIO: { code: "unavailable", hint: "the disk or the device cannot be read or written: ls -ld, dmesg" },
  EAGAIN: { code: "unavailable", hint: "a device has nothing to read: ls -ld" },
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
  const system = own(SYSTEM_ERRORS, errnoName(thrown) ?? "");
  if (system) return new PerdureError(system.code, `${message}.`, { hint: system.hint, cause: thrown });
  return new PerdureError("internal", message, { cause: thrown });
}
