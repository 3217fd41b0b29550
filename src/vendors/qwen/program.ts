import type { VendorEnvironment, VendorProgram } from "../shared/program.ts";

export const qwenProgram: VendorProgram = {
  vendor: "qwen",
  program: "qwen",
  chain: 3,
  package: "@qwen-code/qwen-code",
  scripts: ["cli.js", "cli-entry.js"],
};

export const qwenEnvironment: VendorEnvironment = { recorded: [/^(QWEN|DASHSCOPE|OPENAI)_[A-Z0-9_]+$/] };
