import { join } from "node:path";
import { writeJson } from "../files.ts";
import type { Vendor } from "../vendor.ts";

export const opencode: Vendor = {
  name: "opencode",
  wire: "chat",
  transcripts: ".local/share/opencode/opencode.db",
  configure(home, modelUrl) {
    const options = { baseURL: `${modelUrl}/v1`, apiKey: "made-up" };
    const models = { "fake-model": {}, "made-up-model-7": {} };
    const provider = { npm: "@ai-sdk/openai-compatible", options, models };
    writeJson(join(home, ".config", "opencode", "opencode.json"), {
      provider: { fake: provider, another: provider },
      model: "fake/fake-model",
      small_model: "fake/fake-model",
    });
    return {
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
    };
  },
  session: { begin: null, resume: (id) => ["-s", id], header: "x-session-id" },
  // Word by word: an argument with a space in it reaches the model in quotes.
  headless: { before: ["run"], after: (prompt) => ["--format", "json", "--", ...prompt.split(" ")] },
  interactive: { before: [], after: [] },
  screen: {
    empty: /Ask anything|(?:┃ *\n *){3}┃ +(?:Build|Plan) · /,
    busy: /esc interrupt/,
    escapeAgain: /esc again to interrupt/,
    fresh: "/new",
  },
};
