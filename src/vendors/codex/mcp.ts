import { join } from "node:path";
import type { LaunchPlan, PlanRequest } from "../launch-plan.ts";
import { entryNames } from "../shared/find-file.ts";
import { BRIDGE_COMMAND, BRIDGE_VARIABLES, freeServerName, upwards } from "../shared/mcp.ts";
import { serversInToml } from "./settings.ts";

/**
 * Adds our tools to a start of codex by a setting, beside the user's own servers. Codex asks nobody before a tool that says of itself
 * that it destroys nothing and reaches nothing outside. It hands no variable on that it is not told to.
 */
export function withCodexTools(plan: LaunchPlan, request: PlanRequest): LaunchPlan {
  const name = freeServerName(userServers(request));
  const [command, ...args] = BRIDGE_COMMAND;
  const list = (words: readonly string[]): string => `[${words.map((word) => JSON.stringify(word)).join(",")}]`;
  const server = `{command=${JSON.stringify(command)},args=${list(args)},env_vars=${list(BRIDGE_VARIABLES)}}`;
  return { ...plan, args: ["-c", `mcp_servers.${name}=${server}`, ...plan.args] };
}

/** Returns the names of the user's own servers: in settings of the user, with profiles, and of the project, and by options. */
function userServers({ args, cwd, configDir }: PlanRequest): string[] {
  const profiles = entryNames(configDir).filter((name) => name.endsWith(".config.toml"));
  const ofUser = ["config.toml", ...profiles].map((name) => join(configDir, name));
  const files = [...ofUser, ...upwards(cwd, join(".codex", "config.toml"))];
  const given = args.flatMap((word) => /^(?:-c|--config=)?mcp_servers\.["']?([\w-]+)/.exec(word)?.[1] ?? []);
  return [...files.flatMap(serversInToml), ...given];
}
