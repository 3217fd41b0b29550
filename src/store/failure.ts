import { PerdureError } from "../protocol/errors.ts";

/** The code of a file system that was remounted read-only after an error. */
const SQLITE_READONLY = 8;
const SQLITE_IOERR = 10;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_NOTADB = 26;
/** Growing the shared WAL index fails with an I/O code when the disk is full. */
const SQLITE_IOERR_SHMSIZE = 4874;

export type FailureKind = "disk-full" | "io" | "damaged";

/** Tells what a failed statement means for the whole store; null when only that statement was wrong. */
export function failureKind(error: unknown): FailureKind | null {
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

/** A row holds something that perdure never wrote: somebody or something has changed the file. */
export class DamagedRow extends Error {
  readonly errcode = SQLITE_CORRUPT;
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
  if (kind === "damaged") {
    return new PerdureError("damaged", "The store is damaged; nothing was changed.", { hint: "perdure doctor", cause });
  }
  return new PerdureError("unavailable", "The disk reported an I/O error; nothing was acknowledged.", {
    hint: "check the disk, then run perdure doctor",
    cause,
  });
}
