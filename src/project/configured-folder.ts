import { realpathSync } from "node:fs";
import { join } from "node:path";
import { isPerdureError } from "../protocol/errors.ts";
import { isErrno } from "../state/files.ts";
import { readSettingsAt, type Settings } from "./config/read.ts";
import { requireInside } from "./context-folder.ts";

/** A folder that perdure.toml names, or what is wrong with it: a sentence. */
export type ConfiguredFolder = { folder: string } | { problem: string };

/**
 * Finds the folder that a project's file names. The file says which one inside the project, and git carries links: one that leads
 * out of it is a problem, in the folder's path and in those of the folders in it that are named.
 */
function configuredFolder(root: string, dir: string, inner: readonly string[] = []): ConfiguredFolder {
  try {
    const real = realpathSync(root);
    const folder = join(real, dir);
    for (const each of [folder, ...inner.map((name) => join(folder, name))]) requireInside(real, each);
    return { folder };
  } catch (error) {
    if (isPerdureError(error)) return { problem: error.message };
    if (isErrno(error, "ENOENT", "EACCES")) return { problem: `${root} cannot be read.` };
    throw error;
  }
}

/** Returns the folder for records that a project asks for; null if it asks for none, or its file has a mistake. */
export function recordsFolderAt(root: string): ConfiguredFolder | null {
  const dir = settingsIfReadable(root)?.records?.dir;
  return dir === undefined ? null : configuredFolder(root, dir, ["sessions"]);
}

/** The folders beside the agents' where a file of a drop folder goes that was taken as mail, or could not be. */
export const DROP_PLACES = { processed: "processed", deadLetter: "dead_letter" } as const;

/** Finds the folder of a project in which files are mail, as its perdure.toml names it. */
export function dropFolder(root: string, dir: string): ConfiguredFolder {
  return configuredFolder(root, dir, Object.values(DROP_PLACES));
}

/** Returns the drop folder that a project asks for; null if it asks for none, or its file has a mistake. */
export function dropFolderAt(root: string): ConfiguredFolder | null {
  const dir = settingsIfReadable(root)?.mail?.drop_dir;
  return dir === undefined ? null : dropFolder(root, dir);
}

/** Reads a project's settings; null while its file has a mistake, of which the commands that use the file say what it is. */
function settingsIfReadable(root: string): Settings | null {
  try {
    return readSettingsAt(root);
  } catch (error) {
    if (isPerdureError(error) || isErrno(error, "ENOENT", "ENOTDIR", "EACCES")) return null;
    throw error;
  }
}
