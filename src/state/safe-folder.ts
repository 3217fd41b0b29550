import { lstatSync, mkdirSync, realpathSync, type Stats } from "node:fs";
import { dirname, parse } from "node:path";
import { PerdureError } from "../protocol/errors.ts";
import { isErrno } from "./files.ts";
import { shellWords } from "../util/shell-quote.ts";

const WORLD_WRITABLE = 0o002;
const GROUP_WRITABLE = 0o020;
const STICKY = 0o1000;

/** Makes the folder (0700, its parents too) and then checks it like one that existed before. */
export function makeSafeFolder(folder: string): void {
  if (!isThere(folder)) {
    withAccessErrors(folder, () => mkdirSync(folder, { recursive: true, mode: 0o700 }));
  }
  checkSafeFolder(folder);
}

export function checkSafeFolderIfThere(folder: string): void {
  if (isThere(folder)) checkSafeFolder(folder);
}

/** A dangling link counts as present: somebody may have planted it. */
function isThere(folder: string): boolean {
  return withAccessErrors(folder, () => lstatSync(folder, { throwIfNoEntry: false })) !== undefined;
}

/** Runs an action and turns its access errors into ones that name the folder. */
function withAccessErrors<T>(folder: string, act: () => T): T {
  try {
    return act();
  } catch (cause) {
    if (!isErrno(cause, "ENOTDIR", "EACCES", "EPERM", "EROFS", "ELOOP")) throw cause;
    const why = isErrno(cause, "ENOTDIR") ? `something above ${folder} is not a folder` : "permission denied";
    throw unsafe(folder, why, "set PERDURE_HOME to a folder you own");
  }
}

/** Throws unless the folder is real, ours, closed to other users, and nobody else can replace it. */
export function checkSafeFolder(folder: string): void {
  const stats = lstatSync(folder);
  if (stats.isSymbolicLink())
    throw unsafe(folder, "it is a symbolic link", `remove it, or set PERDURE_HOME to a real folder`);
  if (!stats.isDirectory()) throw unsafe(folder, "it is not a folder", `move it away`);
  if (stats.uid !== ownUid())
    throw unsafe(folder, `it belongs to user ${stats.uid}`, "set PERDURE_HOME to a folder you own");
  if ((stats.mode & 0o077) !== 0) {
    throw unsafe(folder, `other users have access to it (mode ${octal(stats)})`, shellWords(["chmod", "700", folder]));
  }
  checkAncestors(realpathSync.native(dirname(folder)));
}

function checkAncestors(start: string): void {
  const { root } = parse(start);
  for (let folder = start; ; folder = dirname(folder)) {
    const stats = lstatSync(folder);
    if (stats.uid !== 0 && stats.uid !== ownUid()) {
      throw unsafe(folder, `it belongs to user ${stats.uid}`, "set PERDURE_HOME to a folder below your own home");
    }
    if ((stats.mode & STICKY) === 0 && (stats.mode & WORLD_WRITABLE) !== 0) {
      throw unsafe(
        folder,
        `everybody may rename its contents (mode ${octal(stats)})`,
        shellWords(["chmod", "o-w", folder]),
      );
    }
    // A user's own group has no other members where every user has one; any other group may have some.
    if ((stats.mode & STICKY) === 0 && (stats.mode & GROUP_WRITABLE) !== 0 && stats.gid !== process.getgid?.()) {
      throw unsafe(
        folder,
        `group ${stats.gid} may rename its contents (mode ${octal(stats)})`,
        shellWords(["chmod", "g-w", folder]),
      );
    }
    if (folder === root) return;
  }
}

function ownUid(): number {
  return process.getuid?.() ?? 0;
}

function octal(stats: Stats): string {
  return (stats.mode & 0o7777).toString(8).padStart(4, "0");
}

function unsafe(folder: string, why: string, hint: string): PerdureError {
  return new PerdureError("unsafe", `${folder} is not safe for perdure's state: ${why}.`, { hint });
}
