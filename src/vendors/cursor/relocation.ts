import { createHash } from "node:crypto";
import type { FileRelocation, Placement, PlaceRequest } from "../shared/relocation.ts";

/** Cursor is reported to keep a chat under a hash of its folder; from another one the same id would silently be a new chat. */
export const cursorRelocation: FileRelocation = { kind: "file", place };

function place({ path, firstLine, folder }: PlaceRequest): Placement {
  const workspace = /^chats\/([0-9a-f]{32})\//.exec(path)?.[1];
  if (workspace === undefined || workspace === createHash("md5").update(folder).digest("hex"))
    return { path, firstLine, files: [] };
  return { impossible: "cursor keeps it for the folder it began in, and it is not known how to carry it to another" };
}
