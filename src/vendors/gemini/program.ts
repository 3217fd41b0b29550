import type { VendorEnvironment, VendorProgram } from "../shared/program.ts";

export const geminiProgram: VendorProgram = {
  vendor: "gemini",
  program: "gemini",
  chain: 2,
  package: "@google/gemini-cli",
};

export const geminiEnvironment: VendorEnvironment = { recorded: [/^(GEMINI|GOOGLE)_[A-Z0-9_]+$/] };
