import { statSync } from "node:fs";
import { StoreGone } from "./failure.ts";

interface Inode {
  dev: number;
  ino: number;
}

/**
 * The files that the store was opened as. A removed or replaced file can still be written to by whoever has it open, and nobody
 * will ever read it: a commit into such a file must not be acknowledged. Both files are looked at by their paths, which costs two
 * microseconds a commit. They are never opened for that: closing a second descriptor would release SQLite's locks.
 */
export class StorePlace {
  readonly file: string;
  readonly #store: Inode | null;
  #log: Inode | null;

  constructor(file: string) {
    this.file = file;
    this.#store = inodeAt(file);
    this.#log = inodeAt(`${file}-wal`);
  }

  /** Throws `StoreGone` unless the store and its write-ahead log are where they were. */
  check(): void {
    if (!isSame(this.#store, inodeAt(this.file))) throw new StoreGone(this.file);
    const log = inodeAt(`${this.file}-wal`);
    // A full disk may have delayed the first write to the log, which creates it.
    this.#log ??= log;
    if (!isSame(this.#log, log)) throw new StoreGone(`${this.file}-wal`);
  }

  /** Tells whether a write-ahead log that is not this store's is at the path of its own. */
  hasForeignLog(): boolean {
    const log = inodeAt(`${this.file}-wal`);
    return log !== null && !isSame(this.#log, log);
  }

  /** Tells whether a path leads to the opened store, wherever it has been moved to. */
  isStore(path: string): boolean {
    return isSame(this.#store, inodeAt(path));
  }
}

function inodeAt(path: string): Inode | null {
  return statSync(path, { throwIfNoEntry: false }) ?? null;
}

function isSame(a: Inode | null, b: Inode | null): boolean {
  return a !== null && b !== null && a.ino === b.ino && a.dev === b.dev;
}
