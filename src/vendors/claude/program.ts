import type { VendorEnvironment, VendorProgram } from "../shared/program.ts";
import { sessionName } from "./session-name.ts";

export const claudeProgram: VendorProgram = {
  vendor: "claude",
  program: "claude",
  chain: 1,
  package: "@anthropic-ai/claude-code",
  sessionName,
};

export const claudeEnvironment: VendorEnvironment = {
  recorded: [/^(ANTHROPIC|CLAUDE)_[A-Z0-9_]+$/],
  session: [/^CLAUDE_([A-Z0-9_]+_)?(CHILD_SESSION|SESSION_ATTENDED|ENV_FILE)$/],
};
