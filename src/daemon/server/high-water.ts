import { openSync, rmSync, writeSync } from "node:fs";
import { readIfThere } from "../../state/files.ts";
import type { Db } from "../../store/db.ts";
import { lastEventSeq } from "../../store/events.ts";
import { DamagedRow } from "../../store/failure.ts";
import { logLine } from "./log.ts";

/** As many digits as any number has, so that a later one always covers an earlier one. */
const DIGITS = 16;

/**
 * How far the store has come, beside it. A log of changes that was cut off by damage opens as an earlier store, without a
 * word: what was acknowledged since would be gone in silence. Written after each commit and not synced: a power cut
 * may leave a lower mark, never a higher one.
 */
export class HighWater {
  readonly #file: string;
  #fd: number | null = null;
  #last = 0;

  constructor(file: string) {
    this.#file = file;
  }

  /** A store that ends before the mark has lost what was acknowledged after it. */
  static open(file: string, db: Db): HighWater {
    const mark = new HighWater(file);
    const [reached, last] = [mark.#read(), lastEventSeq(db)];
    if (reached > last) throw new DamagedRow(`it ends with event ${last}, and there had been ${reached}`);
    return mark;
  }

  #read(): number {
    const text = readIfThere(this.#file)?.trim() ?? "";
    return /^[0-9]{1,16}$/.test(text) ? Number(text) : 0;
  }

  /** After a commit. It is no more than a witness: on a full disk, say, everything goes on without. */
  update(db: Db): void {
    const mark = lastEventSeq(db);
    if (mark === this.#last) return;
    try {
      this.#fd ??= openSync(this.#file, "w", 0o600);
      writeSync(this.#fd, String(mark).padStart(DIGITS, "0"), 0);
      this.#last = mark;
    } catch (error) {
      logLine(`the high-water mark could not be written: ${String(error)}`);
    }
  }

  /** Another store is put in the place of the one it was about. */
  remove(): void {
    rmSync(this.#file, { force: true });
  }
}
