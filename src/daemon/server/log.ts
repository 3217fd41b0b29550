import { closeSync, copyFileSync, existsSync, fstatSync, ftruncateSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { LOG_BYTES_MAX } from "../../limits/index.ts";

const STDERR = 2;
let target = STDERR;

/** Goes on in a new file if the log's was removed: stderr still leads to the old one, which nobody can read. */
export function reopenLogIfGone(file: string): void {
  if (existsSync(file) || !fstatSync(target).isFile()) return;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const opened = openSync(file, "a", 0o600);
  if (target !== STDERR) closeSync(target);
  target = opened;
}

/** Writes a line to the log: to stderr, which autostart points at the log's file, unless that file was removed since. */
export function logLine(line: string): void {
  try {
    writeSync(target, `${new Date().toISOString()} [${process.pid}] ${line.replaceAll("\n", "\n    ")}\n`);
  } catch {
    // The daemon must survive a full disk even when it cannot log it.
  }
}

/** Copies the log and truncates it in place: the file is open for appending, so it must stay the same file. */
export function rotateLog(file: string): void {
  const stats = fstatSync(target);
  if (!stats.isFile() || stats.size <= LOG_BYTES_MAX) return;
  try {
    copyFileSync(file, `${file}.1`);
  } catch (error) {
    logLine(`the old log could not be saved: ${String(error)}`);
  }
  ftruncateSync(target, 0);
}
