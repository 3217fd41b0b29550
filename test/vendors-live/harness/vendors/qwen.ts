import type { Vendor } from "../vendor.ts";

export const qwen: Vendor = {
  name: "qwen",
  wire: "chat",
  transcripts: ".qwen/projects/*/chats/*.jsonl",
  configure: (_home, modelUrl) => ({
    OPENAI_API_KEY: "made-up",
    OPENAI_BASE_URL: `${modelUrl}/v1`,
    OPENAI_MODEL: "fake-model",
  }),
  session: { begin: (id) => ["--session-id", id], resume: (id) => ["--resume", id], header: null },
  headless: { before: ["--auth-type", "openai"], after: (prompt) => ["-p", prompt] },
  interactive: { before: ["--auth-type", "openai"], after: [] },
  screen: { empty: /^[>*] +Type your message/m, busy: /esc to cancel/, fresh: "/clear" },
};
