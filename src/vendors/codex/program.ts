import type { VendorEnvironment, VendorProgram } from "../shared/program.ts";

export const codexProgram: VendorProgram = { vendor: "codex", program: "codex", chain: 2, package: "@openai/codex" };

export const codexEnvironment: VendorEnvironment = {
  recorded: [/^(OPENAI|CODEX)_[A-Z0-9_]+$/],
  privateNames: ["CODEX_THREAD_ID", "CODEX_SESSION_ID", "CODEX_TOOL_CALL_ID"],
};
