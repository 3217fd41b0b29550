import { readdirSync, statSync } from "node:fs";
import { isErrno } from "../../state/files.ts";
import type { CustodyCopy } from "../../store/custody.ts";
import type { Conversation } from "../../store/conversations.ts";
import { adapterOf } from "../../vendors/index.ts";

export function sizeOf(file: string | null): number | null {
  return file === null ? null : (statSync(file, { throwIfNoEntry: false })?.size ?? null);
}

/** Returns a name that no file has yet, so that files which were set aside earlier stay. */
export function freeName(base: string): string {
  let name = base;
  for (let n = 2; statSync(name, { throwIfNoEntry: false }); n++) name = `${base}-${n}`;
  return name;
}

export function isSourceUnchanged(record: CustodyCopy, file: string): boolean {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  return Number(stat?.size) === record.sourceBytes && String(stat?.mtimeNs) === record.sourceChanged;
}

export function companionsOf({ vendor, transcript }: Conversation): string[] {
  return transcript === null ? [] : (adapterOf(vendor)?.storage.companions?.(transcript) ?? []);
}

export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return [];
    throw error;
  }
}
