import { join } from "node:path";
import { fieldsOf } from "../../util/fields.ts";
import type { LaunchPlan, PlanRequest } from "../launch-plan.ts";
import { entryNames } from "../shared/find-file.ts";
import { BRIDGE_COMMAND, freeServerName, serversAt, serversGiven, upwards } from "../shared/mcp.ts";
import { DEFAULTS_FILE, settingsFiles } from "./settings.ts";

/**
 * Adds our tools to the defaults of the run, to which qwen adds the user's own servers. This one alone is trusted. Its tools are in
 * the first request, because qwen's search for tools would have to know of them; the user's own are searched for as before.
 */
export function withQwenTools(plan: LaunchPlan, request: PlanRequest): LaunchPlan {
  const ours = freeServerName(userServers(request));
  const [command, ...args] = BRIDGE_COMMAND;
  const server = { command, args, trust: true, alwaysLoadTools: true };
  const files = plan.files.map(({ name, text }) => {
    if (name !== DEFAULTS_FILE) return { name, text };
    const settings = fieldsOf(JSON.parse(text));
    const mcpServers = { ...fieldsOf(settings.mcpServers), [ours]: server };
    return { name, text: `${JSON.stringify({ ...settings, mcpServers })}\n` };
  });
  return { ...plan, files };
}

/** Returns the names of the user's own servers: in settings, of the repository, of extensions, and of the command line. */
function userServers({ args, cwd, configDir, environment = {} }: PlanRequest): string[] {
  const extensions = join(configDir, "extensions");
  const manifests = entryNames(extensions).map((name) => join(extensions, name, "qwen-extension.json"));
  const files = [...settingsFiles({ cwd, configDir, environment }), ...upwards(cwd, ".mcp.json"), ...manifests];
  return [...files.flatMap((file) => serversAt(file)), ...serversGiven(args, "--mcp-config", cwd)];
}
