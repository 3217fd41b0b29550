import { closeSync, fstatSync, readSync, type Stats } from "node:fs";
import { TURN_READ_BYTES } from "../../../limits/index.ts";
import type { Outward } from "../../../protocol/records/conversation.ts";
import { openIfReadable } from "../../../state/bounded-read.ts";
import { statIfThere } from "../../../state/files.ts";
import { parseObject } from "../../../util/fields.ts";
import type { Adapter, WrittenTurn } from "../../../vendors/index.ts";

type ReadTurn = NonNullable<Adapter["liveness"]["readTurn"]>;

/** Watches the end of a transcript for turns that begin and end, with a vendor whose process does not tell them itself. */
export class WrittenTurns {
  readonly #readTurn: ReadTurn;
  /** The time of the run's start: where a file is read for the first time, or anew, earlier turns in it are history. */
  readonly #sinceMs: number;
  #version = "";
  /** The file that was read, and up to where: the end of its last whole line. */
  #read = { file: "", ino: 0, bytes: 0 };
  /** The last line of the last poll, where its end was missing. */
  #unended = "";
  #lastAtMs = 0;
  #said: string | undefined;

  constructor(readTurn: ReadTurn, sinceMs: number) {
    this.#readTurn = readTurn;
    this.#sinceMs = sinceMs;
  }

  /** The time at which the last turn began or ended that was read; 0 before the first one. */
  get lastAtMs(): number {
    return this.#lastAtMs;
  }

  /**
   * Returns the beginnings and ends of the run's turns since the last poll, in their order. What was appended since is news, whatever
   * the clock said at the time; it may have been set back.
   */
  poll(file: string | null): Outward[] {
    const found = file === null ? null : this.#newText(file);
    if (found === null) return [];
    const lines = found.text.split("\n");
    const isTold = found.isAppended && lines[0] === this.#unended && this.#turnIn(this.#unended) !== null;
    this.#unended = lines.at(-1) ?? "";
    const turns = (isTold ? lines.slice(1) : lines).flatMap((line) => this.#turnIn(line) ?? []);
    const isNews = ({ atMs }: WrittenTurn): boolean => atMs >= this.#sinceMs && atMs > this.#lastAtMs;
    const news = found.isAppended ? turns : turns.filter(isNews);
    this.#lastAtMs = news.at(-1)?.atMs ?? this.#lastAtMs;
    this.#said = news.findLast(({ said }) => said !== undefined)?.said ?? this.#said;
    return news.map(({ outward }) => outward);
  }

  /** Returns what was said last in the turns that were read since this was asked. */
  takeSaid(): string | undefined {
    const said = this.#said;
    this.#said = undefined;
    return said;
  }

  /** Tells, without opening it, whether the transcript is what it was at the last poll; false while there is none. */
  isUnchanged(file: string): boolean {
    const stat = statIfThere(file);
    return stat !== undefined && versionOf(file, stat) === this.#version;
  }

  #turnIn(line: string): WrittenTurn | null {
    const fields = parseObject(line);
    return fields && this.#readTurn(fields);
  }

  /**
   * Returns what was written since the last poll, from its first whole line on, and whether all of it was appended to what was read;
   * null if the file is what it was.
   */
  #newText(file: string): { text: string; isAppended: boolean } | null {
    const opened = openIfReadable(file);
    if (opened === null) return null;
    try {
      const stat = fstatSync(opened);
      const { ino, size } = stat;
      const version = versionOf(file, stat);
      if (version === this.#version) return null;
      this.#version = version;
      const isGrown = this.#read.file === file && this.#read.ino === ino && this.#read.bytes <= size;
      const from = Math.max(isGrown ? this.#read.bytes : 0, size - TURN_READ_BYTES);
      const isWhole = from === 0 || readPart(opened, from - 1, 1)[0] === NEWLINE;
      // Where a line ended and none ends now, the file was written anew.
      const start = isWhole ? from : Math.max(0, size - TURN_READ_BYTES);
      const part = readPart(opened, start, size - start);
      this.#read = { file, ino, bytes: start + part.lastIndexOf(NEWLINE) + 1 };
      // The last line is read again while its end is missing.
      return { text: part.toString("utf8"), isAppended: isGrown && isWhole && start > 0 };
    } finally {
      closeSync(opened);
    }
  }
}

const NEWLINE = 10;

function versionOf(file: string, { ino, size, mtimeMs }: Stats): string {
  return `${file} ${ino} ${size} ${mtimeMs}`;
}

function readPart(fd: number, from: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  return buffer.subarray(0, readSync(fd, buffer, 0, length, from));
}
