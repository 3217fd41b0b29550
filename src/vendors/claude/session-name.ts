import { join } from "node:path";
import { readIfThere } from "../../state/files.ts";
import { homeDir } from "../../state/paths.ts";
import type { Environment } from "../../util/environment.ts";
import { parseObject } from "../../util/fields.ts";

/** Reads the name from claude's registry of live processes, where `--name` and `/rename` end up. */
export function sessionName(env: Environment): string | null {
  if (!env.CLAUDE_PID || !/^[0-9]+$/.test(env.CLAUDE_PID)) return null;
  const folder = env.CLAUDE_CONFIG_DIR || join(homeDir(env), ".claude");
  // A file that claude is in the middle of writing reports no name right now.
  const entry = parseObject(readIfThere(join(folder, "sessions", `${env.CLAUDE_PID}.json`)) ?? "");
  if (env.CLAUDE_CODE_SESSION_ID && entry?.sessionId !== env.CLAUDE_CODE_SESSION_ID) return null;
  return typeof entry?.name === "string" ? entry.name : null;
}
