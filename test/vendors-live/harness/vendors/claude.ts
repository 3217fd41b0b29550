import { mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { editJson, writeJson } from "../files.ts";
import type { Vendor } from "../vendor.ts";

const KEY = "sk-fake-000";

export const claude: Vendor = {
  name: "claude",
  wire: "anthropic",
  transcripts: ".claude/projects/*/*.jsonl",
  configure(home, modelUrl) {
    writeJson(join(home, ".claude.json"), {
      hasCompletedOnboarding: true,
      theme: "dark",
      customApiKeyResponses: { approved: [KEY], rejected: [] },
    });
    // Where its sockets go, which are named by pid: without it, to a folder all homes share.
    const XDG_RUNTIME_DIR = join(home, "run");
    mkdirSync(XDG_RUNTIME_DIR, { recursive: true, mode: 0o700 });
    return {
      XDG_RUNTIME_DIR,
      ANTHROPIC_BASE_URL: modelUrl,
      ANTHROPIC_API_KEY: KEY,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
    };
  },
  trust(home, folder) {
    editJson(join(home, ".claude.json"), (settings) => ({
      ...settings,
      projects: { ...(settings.projects as object), [realpathSync(folder)]: { hasTrustDialogAccepted: true } },
    }));
  },
  session: {
    begin: (id) => ["--session-id", id],
    resume: (id) => ["--resume", id],
    header: "x-claude-code-session-id",
  },
  headless: { before: [], after: (prompt) => ["-p", prompt] },
  interactive: { before: [], after: [] },
  screen: { empty: /^❯\s*$/m, busy: /esc to interrupt/, fresh: "/clear" },
};
