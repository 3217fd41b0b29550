import { accessSync, chmodSync, constants, lstatSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { CONFIG_BYTES_MAX } from "../../limits/index.ts";
import { readForeign } from "../../state/bounded-read.ts";
import { isErrno } from "../../state/files.ts";

/** The reason why a person has to edit the file; null if there is none. */
export type Obstacle = string | null;

/** Looks for what would be lost by a rename over the file: a link, other rights than ours; null where the file is absent, too. */
export function obstacleTo(file: string): Obstacle {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return folderObstacle(file);
  if (stats.isSymbolicLink()) return "it is a link";
  if (!stats.isFile()) return "it is not a regular file";
  if (stats.nlink > 1) return "other links lead to it";
  if (stats.uid !== process.getuid?.()) return "it belongs to another user";
  return (stats.mode & OWNER_WRITES) === 0 ? "it is read-only" : folderObstacle(file);
}

const OWNER_WRITES = 0o200;

/** Replaces the file by a rename if it still has the text that was read, null for none; else returns what was found there. */
export function replaceFile(file: string, before: string | null, after: string): Obstacle {
  const obstacle = obstacleTo(file);
  if (obstacle !== null) return obstacle;
  try {
    return before === null ? writeNew(file, after) : renameOver(file, before, after);
  } catch (error) {
    if (isErrno(error, "EACCES", "EPERM", "EROFS")) return READ_ONLY_FOLDER;
    throw error;
  }
}

const READ_ONLY_FOLDER = "its folder is read-only";
const CHANGED = "somebody has changed it meanwhile";

function writeNew(file: string, text: string): Obstacle {
  try {
    writeFileSync(file, text, { flag: "wx" });
    return null;
  } catch (error) {
    if (isErrno(error, "EEXIST")) return CHANGED;
    throw error;
  }
}

function renameOver(file: string, before: string, after: string): Obstacle {
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    rmSync(temporary, { force: true });
    writeFileSync(temporary, after, { flag: "wx" });
    const stats = lstatSync(file, { throwIfNoEntry: false });
    const found = readForeign(file, CONFIG_BYTES_MAX);
    if (stats === undefined || found === null || !("text" in found) || found.text !== before) return CHANGED;
    chmodSync(temporary, stats.mode & 0o7777);
    renameSync(temporary, file);
    return null;
  } finally {
    rmSync(temporary, { force: true });
  }
}

function folderObstacle(file: string): Obstacle {
  try {
    accessSync(dirname(file), constants.W_OK);
    return null;
  } catch (error) {
    if (isErrno(error, "EACCES", "EROFS", "EPERM")) return READ_ONLY_FOLDER;
    throw error;
  }
}
