import { anchorFile, anchorSettings, type AnchorSettings } from "../../project/context-file.ts";
import { readProjectSettings, readUserSettings } from "../../project/config/read.ts";
import type { FoundProject } from "../../project/find.ts";
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
