import { parseObject } from "../../util/fields.ts";
import type { FileRelocation, Placement, PlaceRequest } from "../shared/relocation.ts";

/** Pi is given the file, and starts only if the folder that its first line names exists: there, whatever the current one is. */
export const piRelocation: FileRelocation = { kind: "file", place };

/** Where the user has put all conversations into one folder, a transcript stays at its place. */
function place({ path, firstLine, folder }: PlaceRequest): Placement {
  const line = parseObject(firstLine);
  if (line === null) return { impossible: "its first line cannot be read" };
  if (line.cwd === folder) return { path, firstLine, files: [] };
  const name = /^sessions\/[^/]+\/([^/]+)$/.exec(path)?.[1];
  return {
    path: name === undefined ? path : `sessions/${projectFolderOf(folder)}/${name}`,
    firstLine: JSON.stringify({ ...line, cwd: folder }),
    files: [],
  };
}

/** Returns the name under which pi keeps the conversations of a folder. */
export function projectFolderOf(folder: string): string {
  return `--${folder.replace(/^\//, "").replaceAll(/[/\\:]/g, "-")}--`;
}
