import { dirname, join } from "node:path";
import { VENDOR_FILE_BYTES_MAX } from "../../limits/index.ts";
import { TOOL_NAMES } from "../../protocol/tools.ts";
import type { LaunchPlan, PlanRequest } from "../launch-plan.ts";
import { readIfReadable } from "../../state/bounded-read.ts";
import { fieldsOf } from "../../util/fields.ts";
import { parseSettings } from "../shared/jsonc.ts";
import { BRIDGE_COMMAND, freeServerName, mayNameOurs, serversAt, serversGiven, upwards } from "../shared/mcp.ts";

/**
 * Adds our tools to a start of claude, beside the user's own servers. Only these tools are allowed beforehand, by name. They are in
 * the first request, because claude's search for tools would have to know of them; the user's own are searched for as before.
 */
export function withClaudeTools(plan: LaunchPlan, request: PlanRequest): LaunchPlan {
  const { runDir } = request;
  const name = freeServerName(userServers(request));
  const [command, ...args] = BRIDGE_COMMAND;
  const server = { type: "stdio", command, args, alwaysLoad: true };
  const file = { name: "mcp.json", text: `${JSON.stringify({ mcpServers: { [name]: server } })}\n` };
  const allowed = TOOL_NAMES.map((tool) => `mcp__${name}__${tool}`).join(",");
  // Both options take all words up to the next option, and the first of the plan's is one.
  const options = ["--mcp-config", join(runDir, file.name), "--allowedTools", allowed];
  return { ...plan, args: [...options, ...plan.args], files: [...plan.files, file] };
}

/** Returns the names of the user's own servers: for all folders, for this one, of the repository, and of the command line. */
function userServers({ args, cwd, configDir }: PlanRequest): string[] {
  // Claude's state lies in the config dir where a variable names that, and else beside it.
  const states = [configDir, dirname(configDir)].map((folder) => join(folder, ".claude.json"));
  return [
    ...states.flatMap((file) => serversInState(file, cwd)),
    ...upwards(cwd, ".mcp.json").flatMap((file) => serversAt(file)),
    ...serversGiven(args, "--mcp-config", cwd),
  ];
}

function serversInState(file: string, cwd: string): string[] {
  const text = readIfReadable(file, VENDOR_FILE_BYTES_MAX);
  if (!mayNameOurs(text)) return [];
  const { mcpServers, projects } = parseSettings(text);
  const isAbove = (folder: string): boolean => `${cwd}/`.startsWith(`${folder}/`);
  const here = Object.entries(fieldsOf(projects)).filter(([folder]) => isAbove(folder));
  return [mcpServers, ...here.map(([, project]) => fieldsOf(project).mcpServers)].flatMap((servers) =>
    Object.keys(fieldsOf(servers)),
  );
}
