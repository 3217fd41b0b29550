import { basename } from "node:path";
import { parseObject } from "../../util/fields.ts";
import type { FileRelocation, Placement, PlaceRequest } from "../shared/relocation.ts";

/** Qwen looks in the folder's own project, and takes only a transcript whose first line was written in that folder. */
export const qwenRelocation: FileRelocation = { kind: "file", place };

function place({ path, firstLine, folder }: PlaceRequest): Placement {
  const line = parseObject(firstLine);
  if (line === null) return { impossible: "its first line cannot be read" };
  if (line.cwd === folder) return { path, firstLine, files: [] };
  return {
    path: `${chatsOf(folder)}/${basename(path)}`,
    firstLine: JSON.stringify({ ...line, cwd: folder }),
    files: [],
  };
}

/** Returns where, in its config dir, qwen keeps the conversations of a folder. */
export function chatsOf(folder: string): string {
  return `projects/${folder.replaceAll(/[^a-zA-Z0-9]/g, "-")}/chats`;
}
