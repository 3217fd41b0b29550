import { anchorFile, anchorSettings, type AnchorSettings } from "../../project/context-file.ts";
import { readProjectSettings, readUserSettings, type Settings } from "../../project/config/read.ts";
import type { FoundProject } from "../../project/find.ts";
import { pinOf } from "../../project/whoami.ts";
import { userConfigFile } from "../../state/paths.ts";
import { nameKey } from "../../protocol/names.ts";
import { variableOf } from "../../util/environment.ts";
import type { Invocation } from "../shared/command.ts";
import { findProjectHere } from "../shared/here.ts";

export interface AnchorLocation {
  found: FoundProject;
  settings: AnchorSettings;
  /** The working tree of the current folder. */
  root: string;
  /** The id that the anchor belongs to: AI_AGENT_ID, else the pinned name; neither in a project with one agent. */
  agentId: string | undefined;
  file: string;
}

export function locateAnchor(values: Invocation["values"]): AnchorLocation {
  const found = findProjectHere();
  const flags = {
    ...(typeof values.dir === "string" ? { dir: values.dir } : {}),
    ...(typeof values.ext === "string" ? { ext: values.ext } : {}),
  };
  const project = readProjectSettings(found);
  const user = readUserSettings(userConfigFile(process.env));
  const settings = anchorSettings(flags, project, user);
  const agentId = process.env.AI_AGENT_ID || pinnedId(project, user);
  return { found, settings, root: found.here, agentId, file: anchorFile(found.here, settings, agentId) };
}

/**
 * Returns the pinned name, in the form that is the same however its letters are written. The name that a user gives to a conversation
 * can change in its middle, and the path must not: it counts for nothing here. Inside a run only the injected id counts.
 */
function pinnedId(project: Settings, user: Settings): string | undefined {
  const { env } = process;
  if (variableOf(env, "PERDURE_RUN") !== null) return undefined;
  const pin = pinOf({ env, projectConfig: () => project, userConfig: () => user });
  return pin === null ? undefined : nameKey(pin.name);
}
