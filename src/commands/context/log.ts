import { closeSync, constants, fstatSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { CONTEXT_ENTRY_BYTES_MAX } from "../../limits/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { relativeTo } from "../../project/context-file.ts";
import { readUpTo } from "../../state/bounded-read.ts";
import { isErrno } from "../../state/files.ts";
import type { Invocation } from "../shared/command.ts";
import { printable } from "../shared/output.ts";
import { locateAnchor, requireInside } from "./anchor-paths.ts";

const STDIN = 0;

export async function contextLog({ words, values, out }: Invocation): Promise<void> {
  const text = words.length === 1 && words[0] === "-" ? stdinText() : words.join(" ");
  if (text.trim() === "")
    throw new PerdureError("usage", "There is nothing to log.", { hint: "perdure context log TEXT, or - for stdin" });
  const { file, root } = locateAnchor(values);
  requireInside(root, dirname(file));
  mkdirSync(dirname(file), { recursive: true });
  requireInside(root, dirname(file));
  append(file, entry(new Date(), text));
  out.result({ path: file }, () => printable(relativeTo(process.cwd(), file)));
}

function stdinText(): string {
  const text = readUpTo(STDIN, CONTEXT_ENTRY_BYTES_MAX);
  if (text !== null) return text;
  throw new PerdureError("usage", `The entry has more than ${CONTEXT_ENTRY_BYTES_MAX} bytes, which is the limit.`, {
    hint: "log a summary, and where the rest lies",
  });
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
