import { join, resolve } from "node:path";
import { homeDir } from "../../state/paths.ts";
import { fieldsOf } from "../../util/fields.ts";
import type { LaunchPlan, PlanRequest } from "../launch-plan.ts";
import { BRIDGE_COMMAND, freeServerName, serversAt, serversIn, upwards } from "../shared/mcp.ts";
import { parseSettings } from "../shared/jsonc.ts";

const CONFIG = "OPENCODE_CONFIG_CONTENT";

/** Adds our tools to a start of opencode by a variable with settings, to which the user's own servers are added, and its own value. */
export function withOpencodeTools(plan: LaunchPlan, request: PlanRequest): LaunchPlan {
  const { environment = {} } = request;
  const settings = parseSettings(environment[CONFIG] ?? "");
  const server = { type: "local", command: BRIDGE_COMMAND, enabled: true };
  const mcp = { ...fieldsOf(settings.mcp), [freeServerName(userServers(request))]: server };
  return { ...plan, variables: { ...plan.variables, [CONFIG]: JSON.stringify({ ...settings, mcp }) } };
}

/** Returns the names of the user's own servers: for all folders, of this one and those above it, and by variables. */
function userServers({ cwd, environment = {} }: PlanRequest): string[] {
  const home = join(environment.XDG_CONFIG_HOME || join(homeDir(environment), ".config"), "opencode");
  const folders = [home, ...(environment.OPENCODE_CONFIG_DIR ? [environment.OPENCODE_CONFIG_DIR] : [])];
  const files = FILES.flatMap((name) => [
    ...folders.map((folder) => join(folder, name)),
    ...upwards(cwd, name),
    ...upwards(cwd, join(".opencode", name)),
  ]);
  if (environment.OPENCODE_CONFIG) files.push(resolve(cwd, environment.OPENCODE_CONFIG));
  return [...files.flatMap((file) => serversAt(file, "mcp")), ...serversIn(environment[CONFIG] ?? "", "mcp")];
}

const FILES = ["opencode.json", "opencode.jsonc", "config.json"];
