import { constants } from "node:fs";
import { copyFile, open, stat, type FileHandle } from "node:fs/promises";
import { PerdureError } from "../protocol/errors.ts";
import { irregularity, NO_WAIT } from "./bounded-read.ts";
import { shellWords } from "../util/shell-quote.ts";

/**
 * Opens a regular file that is not ours, to be read in parts, without waiting for a fifo's writer. Throws a sentence for
 * anything but a regular file, and the system's own error for one that cannot be opened.
 */
export async function openRegular(file: string): Promise<FileHandle> {
  assertRegular(file, irregularity(await stat(file)));
  const handle = await open(file, NO_WAIT);
  try {
    assertRegular(file, irregularity(await handle.stat()));
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Copies a regular file that is not ours, sharing its blocks where the file system can, without waiting for a fifo's writer. */
export async function copyRegular(source: string, target: string, mode = constants.COPYFILE_FICLONE): Promise<void> {
  const handle = await openRegular(source);
  try {
    // Another file may be at the path by now. On Linux the descriptor has a path of its own, which leads to the one that was opened.
    const opened = process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : source;
    await copyFile(opened, target, mode);
  } finally {
    await handle.close();
  }
}

/**
 * Ends a last line that was cut off, as by a kill in the middle of a write, so that what is appended next begins a line of its own.
 * Returns whether it had to.
 */
export async function endTornLine(file: string): Promise<boolean> {
  assertRegular(file, irregularity(await stat(file)));
  const handle = await open(file, NO_WAIT | constants.O_RDWR | constants.O_APPEND);
  try {
    const opened = await handle.stat();
    assertRegular(file, irregularity(opened));
    const last = Buffer.alloc(1);
    const { bytesRead } = await handle.read(last, 0, 1, Math.max(0, opened.size - 1));
    if (bytesRead === 0 || last.toString("latin1") === "\n") return false;
    await handle.appendFile("\n");
    return true;
  } finally {
    await handle.close();
  }
}

function assertRegular(file: string, problem: string | null): void {
  if (problem === null) return;
  throw new PerdureError("refused", `${file} ${problem}.`, { hint: shellWords(["ls", "-ld", file]) });
}
