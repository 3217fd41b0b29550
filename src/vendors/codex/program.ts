import type { VendorEnvironment, VendorProgram } from "../shared/program.ts";

export const codexProgram: VendorProgram = { vendor: "codex", program: "codex", chain: 2, package: "@openai/codex" };

export const codexEnvironment: VendorEnvironment = { recorded: [/^(OPENAI|CODEX)_[A-Z0-9_]+$/] };
