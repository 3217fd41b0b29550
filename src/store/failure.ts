import { PerdureError } from "../protocol/errors.ts";
import { hintOf, verb } from "../protocol/hint.ts";

/** The code of a file system that was remounted read-only after an error. */
const SQLITE_READONLY = 8;
const SQLITE_IOERR = 10;
const SQLITE_CORRUPT = 11;
/** The code of a write that the system refused for any reason but a full disk: a used-up quota is one of them. */
const SQLITE_IOERR_WRITE = 778;
const SQLITE_FULL = 13;
const SQLITE_NOTADB = 26;
/** Growing the shared WAL index fails with an I/O code when the disk is full. */
const SQLITE_IOERR_SHMSIZE = 4874;

/** `gone` means that the store's file was removed or replaced while it was open. */
export type FailureKind = "disk-full" | "io" | "damaged" | "gone";

/** Tells what a failed statement means for the whole store; null when only that statement was wrong. */
export function failureKind(error: unknown): FailureKind | null {
  if (error instanceof StoreGone) return "gone";
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return null;
  if (error.errcode === SQLITE_IOERR_SHMSIZE) return "disk-full";
  switch (error.errcode & 0xff) {
    case SQLITE_FULL:
      return "disk-full";
    case SQLITE_READONLY:
    case SQLITE_IOERR:
      return "io";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return "damaged";
    default:
      return null;
  }
}

/** Runs a statement that a full disk may refuse: the store can still be read then. */
export function ignoringDiskFull(statement: () => void): void {
  try {
    statement();
  } catch (error) {
    if (failureKind(error) !== "disk-full") throw error;
  }
}

/** Tells whether the system refused a write, for a reason that the error does not tell. */
export function isRefusedWrite(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && error.errcode === SQLITE_IOERR_WRITE;
}

/** A row holds something that perdure never wrote: somebody or something has changed the file. */
export class DamagedRow extends Error {
  readonly errcode = SQLITE_CORRUPT;
}

/** A file of the store was removed or replaced while it was open: what is written to it now, nobody will read. */
export class StoreGone extends Error {
  constructor(file: string) {
    super(`${file} was removed or replaced while the daemon was running`);
  }
}

/** Parses a column that holds JSON; text that is not JSON was not written by us. */
export function parseColumn<T>(column: string, text: string): T {
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new DamagedRow(`${column} does not hold JSON`);
  }
}

export function failureError(kind: FailureKind, cause: unknown): PerdureError {
  if (kind === "disk-full") {
    return new PerdureError("disk-full", "The disk is full; nothing was changed.", {
      hint: "free some space and try again",
      cause,
    });
  }
  if (kind === "gone") {
    const what = cause instanceof Error ? cause.message : String(cause);
    return new PerdureError("damaged", `The store is gone: ${what}. Nothing was acknowledged.`, {
      hint: hintOf`${verb("doctor")}, which says what can be done`,
      cause,
    });
  }
  if (kind === "damaged") {
    return new PerdureError("damaged", "The store is damaged; nothing was changed.", { hint: verb("doctor"), cause });
  }
  return new PerdureError("unavailable", "The disk reported an I/O error; nothing was acknowledged.", {
    hint: hintOf`check the disk, then run ${verb("doctor")}`,
    cause,
  });
}
