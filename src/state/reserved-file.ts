import { closeSync, fdatasyncSync, fsyncSync, openSync, readFileSync, statSync, writeSync } from "node:fs";
import { sha256 } from "../util/sha256.ts";
import { isErrno } from "./files.ts";

const DIGEST_LENGTH = 16;

/**
 * A small file whose room on the disk is taken before it is needed, so that what is written to it in its place goes through on a full
 * disk. A file system that copies on write may refuse even then. The text begins with its digest: one that was written half is no text.
 */
export class ReservedFile {
  readonly #path: string;
  readonly #bytes: number;

  constructor(path: string, bytes: number) {
    this.#path = path;
    this.#bytes = bytes;
  }

  /** Takes the room of the file, and empties one of another size. */
  reserve(): void {
    if (this.#size() === this.#bytes) return;
    this.#put("w", Buffer.alloc(this.#bytes, "\n"));
  }

  /** Returns the text that was written last; empty if there is none, or not all of it. */
  read(): string {
    try {
      const content = readFileSync(this.#path, "utf8").trimEnd();
      const text = content.slice(DIGEST_LENGTH + 1);
      return content.slice(0, DIGEST_LENGTH) === digestOf(text) ? text : "";
    } catch (error) {
      if (isErrno(error, "ENOENT", "ENOTDIR")) return "";
      throw error;
    }
  }

  /** Writes a text without line ends at its end; one that has no room is refused before anything is changed. */
  write(text: string): void {
    const content = Buffer.alloc(this.#bytes, "\n");
    const line = `${digestOf(text)} ${text}`;
    if (Buffer.byteLength(line) > this.#bytes) throw new RangeError(`${Buffer.byteLength(line)} bytes have no room`);
    content.write(line);
    if (this.#size() === this.#bytes) this.#put("r+", content);
    else this.#put("w", content);
  }

  #put(flag: "w" | "r+", content: Buffer): void {
    const fd = openSync(this.#path, flag, 0o600);
    try {
      for (let at = 0; at < content.length;) at += writeSync(fd, content, at, content.length - at, at);
      if (flag === "w") fsyncSync(fd);
      else fdatasyncSync(fd);
    } finally {
      closeSync(fd);
    }
  }

  #size(): number | undefined {
    return statSync(this.#path, { throwIfNoEntry: false })?.size;
  }
}

function digestOf(text: string): string {
  return sha256(text).slice(0, DIGEST_LENGTH);
}
