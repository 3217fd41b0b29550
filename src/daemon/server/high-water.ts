import { closeSync, fstatSync, openSync, rmSync, writeSync } from "node:fs";
import { fileIdentity, readIfThere, statExactly } from "../../state/files.ts";
import type { Db } from "../../store/db.ts";
import { lastEventSeq } from "../../store/events.ts";
import { DamagedRow } from "../../store/failure.ts";
import { logLine } from "./log.ts";

/** The width of every number, so that a later one always overwrites an earlier one completely. */
const DIGITS = 16;
/** The number, and the file's own inode and time of birth; a perdure of before wrote the number alone. */
const MARK = /^([0-9]{1,16})(?: ([0-9]+) ([0-9]+))?$/;

/**
 * The number of the last event, in a file beside the store. A write-ahead log that was cut off by damage opens silently as
 * an earlier store, and acknowledged changes would be lost unnoticed. The file is written after each commit and not synced:
 * a power cut may leave a lower number, never a higher one.
 *
 * The file also names itself, by what a copy of it cannot have: a state folder that was copied, or put back from a copy, is whole
 * and knows nothing of what happened since.
 */
export class HighWater {
  readonly #file: string;
  #fd: number | null = null;
  #last = 0;
  /** Whether another file than this one was written: the state folder, or this file of it, is a copy. */
  readonly isCopy: boolean;
  readonly #reached: number;

  constructor(file: string) {
    this.#file = file;
    const [, reached = "0", inode, birth] = MARK.exec(readIfThere(file)?.trim() ?? "") ?? [];
    this.#reached = Number(reached);
    const now = inode === undefined ? undefined : statExactly(file);
    // Some network file systems number their files anew at every mount, and know no births.
    this.isCopy = now !== undefined && `${now.ino}` !== inode && `${now.birthtimeNs}` !== birth;
  }

  /** Throws if the store ends before the mark, because it has then lost acknowledged changes. */
  static open(file: string, db: Db): HighWater {
    const highWater = new HighWater(file);
    const [reached, last] = [highWater.#reached, lastEventSeq(db)];
    if (reached > last) throw new DamagedRow(`it ends with event ${last}, but had reached event ${reached}`);
    return highWater;
  }

  /** Writes the mark after a commit. A failure, such as a full disk, is logged and ignored: the mark is only a check. */
  update(db: Db): void {
    const last = lastEventSeq(db);
    if (last === this.#last) return;
    try {
      this.#fd ??= this.#begin();
      writeSync(this.#fd, String(last).padStart(DIGITS, "0"), 0);
      this.#last = last;
    } catch (error) {
      logLine(`the high-water mark could not be written: ${String(error)}`);
    }
  }

  /** Empties the file and writes which it is, behind the place of the number. */
  #begin(): number {
    const fd = openSync(this.#file, "w", 0o600);
    const { ino, birthtimeNs } = fstatSync(fd, { bigint: true });
    writeSync(fd, ` ${ino} ${birthtimeNs}`, DIGITS);
    return fd;
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
