import { mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { editJson } from "../files.ts";
import { binFolder } from "../pins.ts";
import type { Vendor } from "../vendor.ts";

export const copilot: Vendor = {
  name: "copilot",
  wire: "chat",
  transcripts: ".copilot/session-state/*/events.jsonl",
  configure(home, modelUrl) {
    // It unpacks 235 MB of itself into every new home: all of them share what the first one unpacked.
    const unpacked = join(binFolder("copilot"), "..", "unpacked");
    mkdirSync(unpacked, { recursive: true });
    mkdirSync(join(home, ".cache"), { recursive: true });
    symlinkSync(unpacked, join(home, ".cache", "copilot"));
    return {
      COPILOT_OFFLINE: "true",
      COPILOT_AUTO_UPDATE: "false",
      COPILOT_MODEL: "gpt-4.1",
      COPILOT_PROVIDER_API_KEY: "made-up",
      COPILOT_PROVIDER_BASE_URL: `${modelUrl}/v1`,
    };
  },
  trust(home, folder) {
    editJson(join(home, ".copilot", "config.json"), (settings) => {
      const trusted = (settings.trustedFolders ?? []) as string[];
      return { ...settings, trustedFolders: [...trusted, realpathSync(folder)] };
    });
  },
  session: { begin: (id) => ["--session-id", id], resume: (id) => [`--resume=${id}`], header: null },
  headless: { before: [], after: (prompt) => ["-s", "-p", prompt] },
  interactive: { before: [], after: [] },
  countsZombiesAsLive: true,
  screen: { empty: /^❯\s*$[^❯]* \/ commands /m, busy: /^ \S Working /m, interrupt: "C-c", fresh: "/clear" },
};
