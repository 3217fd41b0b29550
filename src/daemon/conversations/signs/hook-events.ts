import { lstatSync, readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { HOOK_EVENT_BYTES_MAX } from "../../../limits/index.ts";
import type { Sign } from "../../../protocol/records/conversation.ts";
import { readIfReadable } from "../../../state/bounded-read.ts";
import { isErrno } from "../../../state/files.ts";
import { EVENT_PREFIX, processOfEvent, type Adapter } from "../../../vendors/index.ts";
import { parseObject } from "../../../util/fields.ts";

/** Reads the files that a run's hooks have written, in their order, as signs. Files without a sign are removed. */
export function readHookEvents(folder: string, adapter: Adapter): { sign: Sign; file: string }[] {
  return readHookFiles(folder, adapter).flatMap(({ sign, file }) => (sign === null ? [] : [{ sign, file }]));
}

/** Reads like `readHookEvents`; a file that a hook could not write whole has no sign, and stays. */
export function readHookFiles(folder: string, adapter: Adapter): HookFile[] {
  const found = eventFiles(folder).flatMap((file) => {
    // The agent may have put anything there; what a link leads to is not asked.
    const stat = lstatSync(file, { bigint: true, throwIfNoEntry: false });
    return stat ? [{ file, atNs: stat.mtimeNs, isFile: stat.isFile() }] : [];
  });
  return (
    found
      // Two files of the same clock tick are ordered by name, which may tell which came first.
      .toSorted((a, b) => Number(a.atNs - b.atNs) || (a.file < b.file ? -1 : 1))
      .flatMap(({ file, isFile }): HookFile[] => {
        const event = parseObject(readIfReadable(file, HOOK_EVENT_BYTES_MAX));
        const sign = event && adapter.liveness.onHook?.(event);
        if (sign) return [{ sign: { ...sign, process: processOfEvent(basename(file)) }, file }];
        if (event === null && isFile) return [{ sign: null, file }];
        rmSync(file, { force: true, recursive: true });
        return [];
      })
  );
}

interface HookFile {
  sign: Sign | null;
  file: string;
}

export function clearHookEvents(folder: string): void {
  for (const file of eventFiles(folder)) rmSync(file, { force: true, recursive: true });
}

function eventFiles(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.startsWith(EVENT_PREFIX))
      .map((name) => join(folder, name));
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR", "ELOOP")) return [];
    throw error;
  }
}
