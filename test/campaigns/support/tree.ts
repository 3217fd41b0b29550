import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Every path below a folder, but not what is below `except`. */
export function entriesBelow(folder: string, except: string | null = null): string[] {
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .flatMap((path) => (path === except ? [] : [path, ...(isFolder(path) ? entriesBelow(path, except) : [])]));
}

function isFolder(path: string): boolean {
  return lstatSync(path).isDirectory();
}
