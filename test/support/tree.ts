import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** One hash of everything below a folder: names, modes, links and bytes, except what is left out by its path. */
export function hashTree(folder: string, leftOut: (path: string) => boolean = () => false): string {
  const hash = createHash("sha256");
  for (const path of pathsBelow(folder).filter((each) => !leftOut(each))) {
    const full = join(folder, path);
    const stat = lstatSync(full);
    const content = stat.isSymbolicLink() ? readlinkSync(full) : stat.isFile() ? readFileSync(full) : "";
    hash.update(`${path}\0${stat.mode}\0`).update(content);
  }
  return hash.digest("hex");
}

function pathsBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted();
}

/** Every path below a folder, but not what is below `except`. */
export function entriesBelow(folder: string, except: string | null = null): string[] {
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .flatMap((path) => (path === except ? [] : [path, ...(isFolder(path) ? entriesBelow(path, except) : [])]));
}

function isFolder(path: string): boolean {
  return lstatSync(path).isDirectory();
}

/** Tells whether a path is what every copy carries: cp and rsync make sockets and fifos only if they are asked to, cpSync none. */
export function isFileOrFolder(path: string): boolean {
  const stat = lstatSync(path);
  return stat.isFile() || stat.isDirectory() || stat.isSymbolicLink();
}
