import type { VendorEnvironment, VendorProgram } from "../shared/program.ts";

const codexEnvironment: VendorEnvironment = {
  recorded: [/^(OPENAI|CODEX)_[A-Z0-9_]+$/],
  privateNames: ["CODEX_THREAD_ID", "CODEX_SESSION_ID", "CODEX_TOOL_CALL_ID"],
};

export const codexProgram: VendorProgram = {
  vendor: "codex",
  program: "codex",
  chain: 2,
  package: "@openai/codex",
  isService,
  environment: codexEnvironment,
};

/**
 * `codex remote-control`, and a codex without `--no-daemon`, leave these: the server itself, which serves every codex of its user that
 * comes later, and what keeps it up to date.
 */
function isService(argv: readonly string[]): boolean {
  const server = argv.indexOf("app-server");
  return server > 0 && SERVICE_WORDS.some((word) => argv.includes(word, server));
}

const SERVICE_WORDS = ["--managed-daemon", "pid-update-loop", "--listen"];
