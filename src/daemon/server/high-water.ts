import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { fileIdentity, readIfThere } from "../../state/files.ts";
import type { Db } from "../../store/db.ts";
import { lastEventSeq } from "../../store/events.ts";
import { DamagedRow } from "../../store/failure.ts";
import { logLine } from "./log.ts";

/** The width of every number, so that a later one always overwrites an earlier one completely. */
const DIGITS = 16;

/**
 * The number of the last event, in a file beside the store. A write-ahead log that was cut off by damage opens silently as
 * an earlier store, and acknowledged changes would be lost unnoticed. The file is written after each commit and not synced:
 * a power cut may leave a lower number, never a higher one.
 */
export class HighWater {
  readonly #file: string;
  #fd: number | null = null;
  #last = 0;

  constructor(file: string) {
    this.#file = file;
  }

  /** Throws if the store ends before the mark, because it has then lost acknowledged changes. */
  static open(file: string, db: Db): HighWater {
    const highWater = new HighWater(file);
    const [reached, last] = [highWater.#read(), lastEventSeq(db)];
    if (reached > last) throw new DamagedRow(`it ends with event ${last}, but had reached event ${reached}`);
    return highWater;
  }

  #read(): number {
    const text = readIfThere(this.#file)?.trim() ?? "";
    return /^[0-9]{1,16}$/.test(text) ? Number(text) : 0;
  }

  /** Writes the mark after a commit. A failure, such as a full disk, is logged and ignored: the mark is only a check. */
  update(db: Db): void {
    const last = lastEventSeq(db);
    if (last === this.#last) return;
    try {
      this.#fd ??= openSync(this.#file, "w", 0o600);
      writeSync(this.#fd, String(last).padStart(DIGITS, "0"), 0);
      this.#last = last;
    } catch (error) {
      logLine(`the high-water mark could not be written: ${String(error)}`);
    }
  }

  /** Opens the file again if it was removed; the next commit writes it. */
  reopenIfGone(): void {
    if (this.#fd === null || fileIdentity(this.#file) !== null) return;
    closeSync(this.#fd);
    this.#fd = null;
    this.#last = 0;
  }

  /** Removes the mark when another store takes the place of the one it belongs to. */
  remove(): void {
    rmSync(this.#file, { force: true });
  }
}
