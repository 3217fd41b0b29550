export interface VendorProgram {
  vendor: string;
  /** As it is called on PATH, and as its file is called that an interpreter runs. */
  program: string;
  /** Processes of its own that stand in a row, loaders first; one more of the same vendor is a nested agent. */
  chain: number;
  /** The npm package that holds it. */
  package: string | null;
  /** Files of the package that an interpreter runs as the program, where they are not called like it. */
  scripts?: readonly string[];
}

/** The vendors' programs. Apart from the adapters, because `whoami` needs it at every start. */
export const VENDOR_PROGRAMS: readonly VendorProgram[] = [
  { vendor: "claude", program: "claude", chain: 1, package: "@anthropic-ai/claude-code" },
  { vendor: "codex", program: "codex", chain: 2, package: "@openai/codex" },
  { vendor: "gemini", program: "gemini", chain: 2, package: "@google/gemini-cli" },
  { vendor: "copilot", program: "copilot", chain: 2, package: "@github/copilot" },
  { vendor: "cursor", program: "cursor-agent", chain: 2, package: null },
  { vendor: "pi", program: "pi", chain: 1, package: "@earendil-works/pi-coding-agent" },
  { vendor: "opencode", program: "opencode", chain: 1, package: "opencode-ai" },
  { vendor: "qwen", program: "qwen", chain: 3, package: "@qwen-code/qwen-code", scripts: ["cli.js", "cli-entry.js"] },
];

/** Not on PATH unless somebody put it there, and nobody's choice for work. */
export const SCRIPTED_PROGRAM: VendorProgram = { vendor: "scripted", program: "scripted", chain: 1, package: null };
