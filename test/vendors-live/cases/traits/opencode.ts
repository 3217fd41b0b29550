import { join } from "node:path";
import { editJson } from "../../harness/files.ts";
import type { Traits } from "../../traits.ts";

const SETTINGS = ["-m", "fake/made-up-model-7", "--agent", "plan"];

export const opencode: Traits = {
  interactive: [],
  provenance: "minted",
  tellsVersion: true,
  hidesArguments: false,
  database: {
    list: ["session", "list", "--format", "json"],
    print: (session) => ["export", session],
    remove: (session) => ["session", "delete", session],
    takeIn: (file) => ["import", file],
    id: /\bses_[A-Za-z0-9]+/g,
  },
  config: {
    variable: "XDG_DATA_HOME",
    dir: (home) => join(home, ".local", "share"),
    below: "opencode",
    transcripts: "opencode.db",
  },
  shell: {
    args: { headless: [], tui: [] },
    call: (command) => `[[tool bash ${JSON.stringify({ command, description: "asked" })}]]`,
    stays: "opencode starts every command in its own folder: a cd moves nothing",
  },
  asking: {
    args: [],
    configure: (home) =>
      editJson(join(home, ".config", "opencode", "opencode.json"), (settings) => ({
        ...settings,
        permission: { bash: "ask" },
      })),
    call: '[[tool bash {"command":"touch it","description":"x"}]]',
    question: /Permission required/,
    yes: ["Enter"],
    tells: true,
  },
  // What an agent of its may do is the agent's business: the name of it is written down.
  settings: { args: { headless: SETTINGS, tui: SETTINGS }, model: "made-up-model-7", permissions: /"mode": "plan"/g },
  ours: { headless: () => ["--title", "a title of my own"], tui: () => ["--port", "19871"] },
  provider: () => ["-m", "another/fake-model"],
  ownFolder: null,
  refusesSecond: null,
  secondAsks: null,
  renewsAtPrompt: "opencode tells of a new conversation at its first prompt: one that is left before was never there",
  slow: { inTerminal: "z", unhurried: "z", quick: "a" },
  keepsUnanswered: true,
  cannot: { q: "/new stays in the folder" },
};
