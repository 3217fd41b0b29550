import { copyFileSync, fstatSync, ftruncateSync, writeSync } from "node:fs";
import { LOG_BYTES_MAX } from "../../limits/index.ts";

const STDERR = 2;

/** Lines go to stderr, which autostart points at the log file. */
export function logLine(line: string): void {
  try {
    writeSync(STDERR, `${new Date().toISOString()} [${process.pid}] ${line.replaceAll("\n", "\n    ")}\n`);
  } catch {
    // A full disk must not take the daemon with it because it could not be told about.
  }
}

/** Copy and cut: the file is open for appending, here and in crash output, so it must stay the same file. */
export function rotateLog(file: string): void {
  const stats = fstatSync(STDERR);
  if (!stats.isFile() || stats.size <= LOG_BYTES_MAX) return;
  try {
    copyFileSync(file, `${file}.1`);
  } catch (error) {
    logLine(`the older half of the log is not kept: ${String(error)}`);
  }
  ftruncateSync(STDERR, 0);
}
