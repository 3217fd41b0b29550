import { join } from "node:path";
import { homeDir } from "../../state/paths.ts";
import type { LaunchPlan, PlanRequest } from "../launch-plan.ts";
import { BRIDGE_COMMAND, freeServerName, serversAt } from "../shared/mcp.ts";

/**
 * Adds our tools to a start of pi, by an extension that registers a server, beside the user's own. They are declared to the model:
 * by default pi's model would have to write a program to call them. Pi asks nobody before any tool.
 */
export function withPiTools(plan: LaunchPlan, request: PlanRequest): LaunchPlan {
  const { runDir } = request;
  const name = freeServerName(userServers(request));
  const [command, ...args] = BRIDGE_COMMAND;
  const server = { command, args, exposure: "direct" };
  const text = `export default function (pi) {
  try {
    pi.registerMcpServer(${JSON.stringify(name)}, ${JSON.stringify(server)});
  } catch {}
}
`;
  const file = { name: "tools.mjs", text };
  return { ...plan, args: ["-e", join(runDir, file.name), ...plan.args], files: [...plan.files, file] };
}

/** Returns the names of the user's own servers, for all folders and of this one; pi's folder may not be that of its conversations. */
function userServers({ cwd, configDir, environment = {} }: PlanRequest): string[] {
  const agent = environment.PI_CODING_AGENT_DIR || join(homeDir(environment), ".pi", "agent");
  const folders = [configDir, agent, join(cwd, ".pi")];
  return folders.flatMap((folder) => serversAt(join(folder, "mcp.json")));
}
