import { readdirSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isErrno } from "../../state/files.ts";

/** Returns the names in a folder in their order; none for one that is not there, or not ours to read, as its vendor says itself. */
export function entryNames(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR", "ELOOP", "EACCES", "EPERM")) return [];
    throw error;
  }
}

/** Returns the entries of a folder; none if there is no folder. */
export async function entriesOf(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    // A folder that cannot be read belongs to another user.
    if (isErrno(error, "ENOENT", "ENOTDIR", "ELOOP", "EACCES", "EPERM")) return [];
    throw error;
  }
}

/**
 * Finds the file of one conversation, by its name, in whichever folder of this depth the vendor has put it: their names
 * are made from paths and dates in ways that are not ours to repeat.
 */
export async function findFile(
  folder: string,
  depth: number,
  isMatch: (name: string) => boolean,
): Promise<string | null> {
  const entries = await entriesOf(folder);
  if (depth === 0) {
    const name = entries.find(isMatch);
    return name === undefined ? null : join(folder, name);
  }
  // Names that are dates sort the newest last, where the conversation usually is.
  for (const entry of entries.toSorted().toReversed()) {
    const found = await findFile(join(folder, entry), depth - 1, isMatch);
    if (found !== null) return found;
  }
  return null;
}

/** Finds all files whose name matches, in all folders of this depth, in the order of their paths. */
export async function findFiles(folder: string, depth: number, isMatch: (name: string) => boolean): Promise<string[]> {
  const entries = (await entriesOf(folder)).toSorted();
  if (depth === 0) return entries.filter(isMatch).map((name) => join(folder, name));
  const found: string[] = [];
  for (const entry of entries) found.push(...(await findFiles(join(folder, entry), depth - 1, isMatch)));
  return found;
}
