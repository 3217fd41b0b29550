import { copyFileSync, fstatSync, ftruncateSync, writeSync } from "node:fs";
import { LOG_BYTES_MAX } from "../../limits/index.ts";

const STDERR = 2;

/** Writes a line to stderr, which autostart points at the log file. */
export function logLine(line: string): void {
  try {
    writeSync(STDERR, `${new Date().toISOString()} [${process.pid}] ${line.replaceAll("\n", "\n    ")}\n`);
  } catch {
    // The daemon must survive a full disk even when it cannot log it.
  }
}

/** Copies the log and truncates it in place: the file is open for appending, so it must stay the same file. */
export function rotateLog(file: string): void {
  const stats = fstatSync(STDERR);
  if (!stats.isFile() || stats.size <= LOG_BYTES_MAX) return;
  try {
    copyFileSync(file, `${file}.1`);
  } catch (error) {
    logLine(`the old log could not be saved: ${String(error)}`);
  }
  ftruncateSync(STDERR, 0);
}
