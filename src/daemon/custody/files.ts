import { readdirSync, statSync } from "node:fs";
import { isErrno } from "../../state/files.ts";
import type { CustodyRow } from "../../store/custody.ts";
import type { SessionRow } from "../../store/conversations.ts";
import { adapterOf } from "../../vendors/index.ts";

export function sizeOf(file: string | null): number | null {
  return file === null ? null : (statSync(file, { throwIfNoEntry: false })?.size ?? null);
}

/** What was set aside before stays, too. */
export function freeName(wanted: string): string {
  let name = wanted;
  for (let n = 2; statSync(name, { throwIfNoEntry: false }); n++) name = `${wanted}-${n}`;
  return name;
}

export function sameSource(kept: CustodyRow, file: string): boolean {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  return Number(stat?.size) === kept.source_bytes && String(stat?.mtimeNs) === kept.source_changed;
}

export function companionsOf({ vendor, transcript }: SessionRow): string[] {
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
