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

function assertRegular(file: string, problem: string | null): void {
  if (problem === null) return;
  throw new PerdureError("refused", `${file} ${problem}.`, { hint: shellWords(["ls", "-ld", file]) });
}
