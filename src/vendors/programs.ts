/** The vendors' programs as they are called on PATH. */
export const VENDOR_PROGRAMS: readonly { vendor: string; program: string }[] = [
  { vendor: "claude", program: "claude" },
  { vendor: "codex", program: "codex" },
  { vendor: "gemini", program: "gemini" },
  { vendor: "copilot", program: "copilot" },
  { vendor: "cursor", program: "cursor-agent" },
  { vendor: "pi", program: "pi" },
  { vendor: "opencode", program: "opencode" },
  { vendor: "qwen", program: "qwen" },
];
