import { readdirSync } from "node:fs";
import { join } from "node:path";
import { VENDOR_FILE_BYTES_MAX } from "../../limits/index.ts";
import { readIfReadable } from "../../state/bounded-read.ts";
import { isErrno } from "../../state/files.ts";
import { parseObject, textOf } from "../../util/fields.ts";
import type { ProcessView } from "../adapter.ts";

/** The entry of one live process in a vendor's own registry. */
export interface LiveEntry {
  pid: number;
  fields: Readonly<Record<string, unknown>>;
}

/** Tells when a process began; null for a process that is gone. */
export interface ProcessStarts {
  inspect(pid: number): { startedAt: string } | null;
}

/**
 * Reads the entry of a process from a folder with one `<pid>.json` per live process. Entries of killed processes stay
 * behind, and pids come back: an entry that tells its process's start time counts only with it.
 */
export function liveEntry(folder: string, pid: number, processes: ProcessStarts): LiveEntry | null {
  // A file that cannot be read is somebody else's, and no file is no entry.
  const fields = parseObject(readIfReadable(join(folder, `${pid}.json`), VENDOR_FILE_BYTES_MAX));
  const live = fields === null ? null : processes.inspect(pid);
  if (fields === null || live === null) return null;
  const started = typeof fields.procStart === "number" ? String(fields.procStart) : textOf(fields.procStart);
  // The entry has the start time alone, or behind the boot id and a colon.
  const same = started === null || started === live.startedAt || started.endsWith(`:${live.startedAt}`);
  return same ? { pid, fields } : null;
}

export function liveEntries(folder: string, processes: ProcessView): LiveEntry[] {
  const read = (): LiveEntry[] => pidsIn(folder).flatMap((pid) => liveEntry(folder, pid, processes) ?? []);
  return processes.memo ? processes.memo(`registry ${folder}`, read) : read();
}

function pidsIn(folder: string): number[] {
  try {
    return readdirSync(folder)
      .filter((file) => /^[0-9]+\.json$/.test(file))
      .map((file) => parseInt(file, 10));
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR", "ELOOP", "EACCES", "EPERM")) return [];
    throw error;
  }
}
