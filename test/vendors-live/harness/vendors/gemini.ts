import { join } from "node:path";
import { writeJson } from "../files.ts";
import type { Vendor } from "../vendor.ts";

export const gemini: Vendor = {
  name: "gemini",
  wire: "gemini",
  transcripts: ".gemini/tmp/*/chats/*.jsonl",
  configure(home, modelUrl) {
    writeJson(join(home, ".gemini", "settings.json"), {
      security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
      general: { enableAutoUpdate: false },
    });
    return { GEMINI_API_KEY: "made-up", GOOGLE_GEMINI_BASE_URL: modelUrl, GEMINI_MODEL: "gemini-2.5-pro" };
  },
  session: { begin: (id) => ["--session-id", id], resume: (id) => ["--resume", id], header: null },
  headless: { before: [], after: (prompt) => ["-p", prompt] },
  interactive: { before: [], after: [] },
  screen: {
    // It draws the line first, alone under an empty screen, and loses what is typed before the rest is there.
    empty: /(?<![^])(?!\s*\? for shortcuts)[^]*^ > +Type your message/m,
    busy: /esc to cancel|Resuming session/,
    typed: true,
    fresh: "/clear",
  },
};
