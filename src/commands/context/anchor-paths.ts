import { realpathSync } from "node:fs";
import { dirname, sep } from "node:path";
import { anchorFile, anchorSettings, type AnchorSettings } from "../../project/context-file.ts";
import { readProjectSettings, readUserSettings } from "../../project/config/read.ts";
import type { FoundProject } from "../../project/find.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { isErrno } from "../../state/files.ts";
import { userConfigFile } from "../../state/paths.ts";
import type { Invocation } from "../shared/command.ts";
import { findProjectHere } from "../shared/here.ts";

export interface AnchorLocation {
  found: FoundProject;
  settings: AnchorSettings;
  /** The working tree of the current folder. */
  root: string;
  agentId: string | undefined;
  file: string;
}

export function locateAnchor(values: Invocation["values"]): AnchorLocation {
  const found = findProjectHere();
  const flags = {
    ...(typeof values.dir === "string" ? { dir: values.dir } : {}),
    ...(typeof values.ext === "string" ? { ext: values.ext } : {}),
  };
  const settings = anchorSettings(flags, readProjectSettings(found), readUserSettings(userConfigFile(process.env)));
  const agentId = process.env.AI_AGENT_ID || undefined;
  return { found, settings, root: found.here, agentId, file: anchorFile(found.here, settings, agentId) };
}

/** Throws if a path leads outside the project: a foreign repository may have a symbolic link where the context folder should be. */
export function requireInside(root: string, path: string): void {
  const real = realpathOfExisting(path);
  if (real === root || real.startsWith(root + sep)) return;
  throw new PerdureError("unsafe", `${path} leads outside the project, to ${real}.`, { hint: "remove that link" });
}

/** Resolves the links of a path, or of as much of it as exists. */
function realpathOfExisting(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (!isErrno(error, "ENOENT") || dirname(path) === path) throw error;
    return realpathOfExisting(dirname(path));
  }
}
