import { renameSync, rmSync } from "node:fs";
import { INBOX_FILE_POLL_MS } from "../limits/index.ts";
import { isErrno, readIfThere } from "../state/files.ts";
import { asObject, parseLine } from "./transcript-file.ts";

/**
 * Takes texts from a file that somebody leaves for one conversation. The rename is what says that the text was taken: one for another
 * conversation stays where it is.
 */
export function openInboxFile(path: string, session: () => string, push: (line: string) => void): () => void {
  const look = (): void => {
    const left = asObject(parseLine(readIfThere(path) ?? ""));
    if (typeof left.text === "string" && left.session === session() && taken(path)) push(left.text);
  };
  const timer = setInterval(look, INBOX_FILE_POLL_MS).unref();
  return () => clearInterval(timer);
}

function taken(path: string): boolean {
  const own = `${path}.${process.pid}`;
  try {
    renameSync(path, own);
  } catch (error) {
    if (isErrno(error, "ENOENT")) return false;
    throw error;
  }
  rmSync(own, { force: true });
  return true;
}
