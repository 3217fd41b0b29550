import { join } from "node:path";
import type { LaunchPlan, PlanRequest } from "../launch-plan.ts";
import { BRIDGE_COMMAND, freeServerName, serversAt, serversGiven, upwards } from "../shared/mcp.ts";

/** Adds our tools to a start of copilot, beside the user's own servers. Only the tools of this server are allowed beforehand. */
export function withCopilotTools(plan: LaunchPlan, request: PlanRequest): LaunchPlan {
  const { runDir } = request;
  const name = freeServerName(userServers(request));
  const [command, ...args] = BRIDGE_COMMAND;
  const server = { type: "local", command, args, tools: ["*"] };
  const file = { name: "mcp.json", text: `${JSON.stringify({ mcpServers: { [name]: server } })}\n` };
  const options = ["--additional-mcp-config", `@${join(runDir, file.name)}`, `--allow-tool=${name}`];
  return { ...plan, args: [...options, ...plan.args], files: [...plan.files, file] };
}

/** Returns the names of the user's own servers: for all folders, of the repository, and of the command line. */
function userServers({ args, cwd, configDir }: PlanRequest): string[] {
  const ofRepository = [".mcp.json", join(".github", "mcp.json")].flatMap((name) => upwards(cwd, name));
  return [
    ...serversAt(join(configDir, "mcp-config.json")),
    ...ofRepository.flatMap((file) => serversAt(file)),
    ...serversGiven(args, "--additional-mcp-config", cwd),
  ];
}
