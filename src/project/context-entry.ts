import { closeSync, constants, fstatSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { PerdureError } from "../protocol/errors.ts";
import { hintOf, verb } from "../protocol/hint.ts";
import { isErrno } from "../state/files.ts";
import { makeFolderInside } from "./context-folder.ts";

/** Adds an entry with the time to a context file, which is made if it is not there. */
export function appendEntry(root: string, file: string, text: string): void {
  if (text.trim() === "")
    throw new PerdureError("usage", "There is nothing to log.", {
      hint: hintOf`${verb("context", "log", "TEXT")}, or - for stdin`,
    });
  makeFolderInside(root, dirname(file));
  append(file, entry(new Date(), text));
}

/** Appends with one write, so that the entries of two writers never mix. */
function append(file: string, text: string): void {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
  // A fifo that came with the repository would wait for its reader.
  const fd = openNoFollow(file, flags | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    if (!fstatSync(fd).isFile()) throw notRegular(file);
    const bytes = Buffer.from(text);
    const written = writeSync(fd, bytes);
    if (written !== bytes.length) throw new PerdureError("disk-full", `Only part of the entry was written to ${file}.`);
  } finally {
    closeSync(fd);
  }
}

function openNoFollow(file: string, flags: number): number {
  try {
    return openSync(file, flags, 0o644);
  } catch (error) {
    if (isErrno(error, "ENXIO")) throw notRegular(file);
    if (!isErrno(error, "ELOOP")) throw error;
    throw new PerdureError("unsafe", `${file} is a symbolic link.`, { hint: "remove it" });
  }
}

function notRegular(file: string): PerdureError {
  return new PerdureError("unsafe", `${file} is not a regular file.`, { hint: "remove it" });
}

/** Formats a list item, valid in Markdown and in Org; further lines are indented so that they stay part of it. */
function entry(now: Date, text: string): string {
  const [first = "", ...more] = text.trimEnd().split("\n");
  return `${[`- ${now.toISOString()} ${first}`, ...more.map((line) => `  ${line}`)].join("\n")}\n`;
}
