import { join } from "node:path";
import { fieldsOf } from "../../util/fields.ts";
import type { LaunchPlan, PlanRequest } from "../launch-plan.ts";
import { entryNames } from "../shared/find-file.ts";
import { BRIDGE_COMMAND, freeServerName, serversAt } from "../shared/mcp.ts";
import { OVERLAY_SETTINGS, settingsFile, WRITTEN_SETTINGS } from "./overlay.ts";

/**
 * Adds our tools to the settings of the run's overlay, beside the user's own servers. Gemini offers its model no tools of a server
 * that is not trusted, without a terminal; so this one is, and no other. It may withhold a variable that looks like a secret.
 */
export function withGeminiTools(plan: LaunchPlan, request: PlanRequest): LaunchPlan {
  const ours = freeServerName(userServers(request));
  const [command, ...args] = BRIDGE_COMMAND;
  const env = Object.fromEntries(NEEDED.map((name) => [name, `$${name}`]));
  const server = { command, args, env, trust: true };
  const files = plan.files.map(({ name, text }) => {
    if (name !== OVERLAY_SETTINGS && name !== WRITTEN_SETTINGS) return { name, text };
    const settings = fieldsOf(JSON.parse(text));
    const mcpServers = { ...fieldsOf(settings.mcpServers), [ours]: server };
    return { name, text: `${JSON.stringify({ ...settings, mcpServers }, null, 2)}\n` };
  });
  return { ...plan, files };
}

const NEEDED = ["PERDURE_RUN", "PERDURE_TOKEN", "PERDURE_SOCKET"];

/** Returns the names of the user's own servers: in the settings of the user and of the folder, and of extensions. */
function userServers({ cwd, configDir }: PlanRequest): string[] {
  const extensions = join(configDir, ".gemini", "extensions");
  const manifests = entryNames(extensions).map((name) => join(extensions, name, "gemini-extension.json"));
  return [settingsFile(configDir), settingsFile(cwd), ...manifests].flatMap((file) => serversAt(file));
}
