import { join } from "node:path";
import { VENDOR_FILE_BYTES_MAX } from "../../limits/index.ts";
import { readIfReadable } from "../../state/bounded-read.ts";
import { homeDir } from "../../state/paths.ts";
import type { Environment } from "../../util/environment.ts";
import { parseObject } from "../../util/fields.ts";
import type { VendorEnvironment, VendorProgram } from "../shared/program.ts";

const claudeEnvironment: VendorEnvironment = {
  recorded: [/^(ANTHROPIC|CLAUDE)_[A-Z0-9_]+$/],
  session: [/^CLAUDE_([A-Z0-9_]+_)?(CHILD_SESSION|SESSION_ATTENDED|ENV_FILE)$/],
  privateNames: [
    "CLAUDECODE",
    "CLAUDE_PID",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_SESSION_ATTENDED",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_MESSAGING_SOCKET",
    "CLAUDE_CODE_MESSAGING_TOKEN",
    "CLAUDE_ENV_FILE",
  ],
};

export const claudeProgram: VendorProgram = {
  vendor: "claude",
  program: "claude",
  chain: 1,
  package: "@anthropic-ai/claude-code",
  conversationName,
  isService,
  environment: claudeEnvironment,
};

/** `/background` leaves these, which serve all background agents of the user: the service itself, their terminals, and what waits for the next. */
function isService([program = "", first, second]: readonly string[]): boolean {
  return (first === "daemon" && second === "run") || /(^|\/)claude bg-/.test(program);
}

/** Reads the name from claude's registry of live processes, where `--name` and `/rename` end up. */
function conversationName(env: Environment): string | null {
  if (!env.CLAUDE_PID || !/^[0-9]+$/.test(env.CLAUDE_PID)) return null;
  const folder = env.CLAUDE_CONFIG_DIR || join(homeDir(env), ".claude");
  // A file that claude is just writing has no name yet.
  const entry = parseObject(readIfReadable(join(folder, "sessions", `${env.CLAUDE_PID}.json`), VENDOR_FILE_BYTES_MAX));
  if (env.CLAUDE_CODE_SESSION_ID && entry?.sessionId !== env.CLAUDE_CODE_SESSION_ID) return null;
  return typeof entry?.name === "string" ? entry.name : null;
}
