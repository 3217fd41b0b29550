import { join } from "node:path";
import { writeJson } from "../files.ts";
import type { Vendor } from "../vendor.ts";

const MODEL = ["--provider", "fake", "--model", "fake-model"];

export const pi: Vendor = {
  name: "pi",
  wire: "chat",
  transcripts: ".pi/agent/sessions/*/*.jsonl",
  configure(home, modelUrl) {
    const model = {
      id: "fake-model",
      name: "fake-model",
      reasoning: false,
      input: ["text"],
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      contextWindow: 100_000,
      maxTokens: 1000,
    };
    const provider = { baseUrl: `${modelUrl}/v1`, api: "openai-completions", apiKey: "made-up", models: [model] };
    writeJson(join(home, ".pi", "agent", "models.json"), { providers: { fake: provider, another: provider } });
    return { PI_OFFLINE: "1", PI_TELEMETRY: "0" };
  },
  session: { begin: (id) => ["--session-id", id], resume: (id) => ["--session-id", id], header: null },
  headless: { before: MODEL, after: (prompt) => ["-p", prompt] },
  interactive: { before: MODEL, after: [] },
  screen: { empty: /^─+\n\s*\n─+$/m, busy: /^── \S Working /m, fresh: "/new" },
};
