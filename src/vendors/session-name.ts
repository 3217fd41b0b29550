import type { Environment } from "../util/environment.ts";
import { join } from "node:path";
import { isName } from "../protocol/names.ts";
import { readIfThere } from "../state/files.ts";
import { homeDir } from "../state/paths.ts";

/** Each vendor that tells its children which session they belong to, and keeps that session's name where we can read it. */
const REPORTERS: readonly ((env: Environment) => string | null)[] = [claude];

/** The name the surrounding vendor session was given by its user (rule 4), if it is a legal one. */
export function sessionName(env: Environment): string | null {
  for (const report of REPORTERS) {
    const name = report(env);
    if (name !== null && isName(name)) return name;
  }
  return null;
}

/** claude registers each live process in its config dir; `--name` and `/rename` end up there. */
function claude(env: Environment): string | null {
  if (!env.CLAUDE_PID || !/^[0-9]+$/.test(env.CLAUDE_PID)) return null;
  const folder = env.CLAUDE_CONFIG_DIR || join(homeDir(env), ".claude");
  const text = readIfThere(join(folder, "sessions", `${env.CLAUDE_PID}.json`));
  if (text === null) return null;
  const entry = parseObject(text);
  if (env.CLAUDE_CODE_SESSION_ID && entry.sessionId !== env.CLAUDE_CODE_SESSION_ID) return null;
  return typeof entry.name === "string" ? entry.name : null;
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {}; // half-written by the vendor: it reports no name right now
  }
}
