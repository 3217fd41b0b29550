import { readdirSync } from "node:fs";
import { join } from "node:path";
import { isErrno, readIfThere } from "../../state/files.ts";
import type { ProcessView } from "../adapter.ts";
import { parseObject, textOf } from "./transcript.ts";

export interface RegistryEntry {
  pid: number;
  fields: Readonly<Record<string, unknown>>;
}

/** When a process began; null for one that is gone. */
export interface Started {
  look(pid: number): { startedAt: string } | null;
}

/**
 * Of a folder with one `<pid>.json` per live process. Entries of killed processes stay behind, and pids come back: one
 * that tells its start time counts only with it.
 */
export function registryEntry(folder: string, pid: number, processes: Started): RegistryEntry | null {
  const fields = parseObject(readIfReadable(join(folder, `${pid}.json`)));
  const live = fields === null ? null : processes.look(pid);
  if (fields === null || live === null) return null;
  const started = typeof fields.procStart === "number" ? String(fields.procStart) : textOf(fields.procStart);
  // Alone, or behind the boot it counts from.
  const same = started === null || started === live.startedAt || started.endsWith(`:${live.startedAt}`);
  return same ? { pid, fields } : null;
}

/** What cannot be read is somebody else's, and no file is no entry. */
function readIfReadable(file: string): string {
  try {
    return readIfThere(file) ?? "";
  } catch (error) {
    if (isErrno(error, "EACCES", "EPERM", "EISDIR")) return "";
    throw error;
  }
}

export function registryEntries(folder: string, processes: ProcessView): RegistryEntry[] {
  const read = (): RegistryEntry[] => pidsIn(folder).flatMap((pid) => registryEntry(folder, pid, processes) ?? []);
  return processes.memo ? processes.memo(`registry ${folder}`, read) : read();
}

function pidsIn(folder: string): number[] {
  try {
    return readdirSync(folder)
      .filter((file) => /^[0-9]+\.json$/.test(file))
      .map((file) => parseInt(file, 10));
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return [];
    throw error;
  }
}
