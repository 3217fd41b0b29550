import { join } from "node:path";
import { editJson, writeJson, writeText } from "../../harness/files.ts";
import type { OwnHooks, Traits } from "../../traits.ts";

const SETTINGS = ["-m", "fake/made-up-model-7", "--agent", "plan"];

export const opencode: Traits = {
  interactive: [],
  partner: "claude",
  toolName: (tool, server = "perdure") => `${server}_${tool}`,
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
  noHooks: true,
  failures: {
    refused: /^made-up error 401$/,
    // It retries for minutes.
    limited: null,
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
  ownHooks,
  ownServers: {
    add: (home, servers) => {
      const all = Object.entries(servers).map(([name, command]) => [name, { type: "local", command, enabled: true }]);
      // The first opencode would write itself.
      editJson(join(home, ".config", "opencode", "opencode.json"), (settings) => ({
        $schema: "https://opencode.ai/config.json",
        ...settings,
        mcp: Object.fromEntries(all),
      }));
    },
    args: () => [],
    settings: [".config/opencode/*.json*", "api/opencode.json*", "api/.opencode/**"],
  },
  changing: {
    line: "/themes",
    steps: [{ sees: /● opencode/, press: ["Down", "Enter"] }],
    done: /^(?![^]*Search)[^]*Build · fake-model/,
    file: ".local/state/opencode/kv.json",
    saved: /"theme":"orng"/,
  },
  provider: () => ["-m", "another/fake-model"],
  ownFolder: null,
  choosing: { newest: ["--continue"], resume: (id) => ["-s", id] },
  refusesSecond: null,
  splits: false,
  secondAsks: null,
  renewsAtPrompt: "opencode tells of a new conversation at its first prompt: one that is left before was never there",
  slow: { inTerminal: "z bi bn", unhurried: "z bi bn", quick: "a" },
  naming: null,
  keepsUnanswered: true,
  unrecorded: {
    known: [{ env: { OPENCODE_DB: ":memory:" }, says: "OPENCODE_DB=:memory: in the environment" }],
    behind: null,
  },
  cannot: {
    "ad tui": "opencode has no way that is not refused, by perdure or by itself",
    q: "/new stays in the folder",
    df: "only its end tells which of opencode's texts is the answer",
  },
};

/**
 * A plugin of the user's, which is what opencode has in place of hooks. Before it loads any, it installs a package beside them from
 * the network, unless the lock file says that it is there.
 */
function ownHooks(home: string): OwnHooks {
  const folder = join(home, ".config", "opencode");
  const events = ["chat.message", "chat.params"];
  const marks = events.map((event) => join(home, `own-${event}-ran`));
  const handlers = events.map((event, at) => {
    return `  ${JSON.stringify(event)}: async () => writeFileSync(${JSON.stringify(marks[at])}, ""),\n`;
  });
  const plugin = join(folder, "plugin", "own.js");
  const own = `export const Own = async () => ({\n${handlers.join("")}});\n`;
  writeText(plugin, `import { writeFileSync } from "node:fs";\n${own}`);
  const dependencies = { "@opencode-ai/plugin": "*" };
  writeJson(join(folder, "package.json"), { dependencies });
  writeJson(join(folder, "package-lock.json"), { lockfileVersion: 3, packages: { "": { dependencies } } });
  writeText(join(folder, "node_modules", ".keep"), "");
  const settings = join(folder, "opencode.json");
  // What opencode would write itself.
  editJson(settings, (each) => ({ $schema: "https://opencode.ai/config.json", ...each }));
  return { settings: [plugin, settings, join(folder, "package.json"), join(folder, "package-lock.json")], marks };
}
