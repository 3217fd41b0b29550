import { join } from "node:path";
import { writeJson, writeText } from "../../harness/files.ts";
import type { OwnHooks, Traits } from "../../traits.ts";
import type { Terminal } from "../../harness/terminal.ts";

const MODEL = "made-up-model-7";
const SETTINGS = ["--model", MODEL, "--thinking", "high"];

export const pi: Traits = {
  interactive: [],
  partner: "claude",
  toolName: (tool, server = "perdure") => `mcp__${server}__${tool}`,
  provenance: "assigned",
  tellsVersion: false,
  hidesArguments: true,
  database: null,
  config: {
    variable: "PI_CODING_AGENT_DIR",
    dir: (home) => join(home, ".pi", "agent"),
    transcripts: "sessions/*/*.jsonl",
  },
  shell: {
    args: { headless: [], tui: [] },
    call: (command) => `[[tool bash ${JSON.stringify({ command })}]]`,
    stays: "pi starts every command in the conversation's folder: a cd moves nothing",
  },
  failures: {
    refused: /^401: .*made-up error 401/,
    limited: { directive: "429 insufficient_quota", says: /429: .*made-up error 429/ },
  },
  asking: null,
  // It asks for no permissions; of a turn it writes down how hard it thought.
  settings: {
    args: { headless: SETTINGS, tui: SETTINGS },
    model: MODEL,
    permissions: /"role":"assistant".*"thinkingLevel":"high"/g,
  },
  ours: { headless: () => TITLED, tui: () => TITLED },
  provider: () => ["--provider", "another"],
  ownServers: {
    add: (home, servers) => {
      const all = Object.entries(servers).map(([name, [command, ...args]]) => [
        name,
        { command, args, exposure: "direct" },
      ]);
      writeJson(join(home, ".pi", "agent", "mcp.json"), { mcpServers: Object.fromEntries(all) });
    },
    args: () => [],
    settings: [".pi/agent/mcp.json", ".pi/agent/models.json", ".pi/agent/extensions/*", "api/.pi/*"],
  },
  changing: {
    line: "/settings",
    steps: [{ sees: /→ Auto-compact +true/, press: ["Enter"] }],
    done: /→ Auto-compact +false/,
    file: ".pi/agent/settings.json",
    saved: /"compaction": \{\s*"enabled": false/,
  },
  ownHooks,
  ownFolder: null,
  renewsAtPrompt: null,
  choosing: { newest: ["--continue"], resume: (_id, file) => ["--session", file] },
  refusesSecond: null,
  splits: true,
  secondAsks: null,
  slow: { inTerminal: "bk i j z bi bn", unhurried: "j z bi bn", quick: "a i w" },
  naming: "/name",
  person: {
    command: "/perdure",
    openedBy: [byCommand("/perdure"), byKey("C-M-w")],
    loads: (extension) => ["-e", extension],
    neighbour: intercomStandIn,
  },
  peers: sessionsStandIn,
  fileOfChoice: true,
  keepsUnanswered: true,
  unrecorded: { known: [{ args: ["--no-session"], says: "--no-session" }], behind: null },
  cannot: {
    "ad tui": "pi has no way that is not refused, by perdure or by itself",
    ak: "pi is given the file, and opens it from any config dir",
    q: "/new stays in the folder",
    u: "a pi that somebody else started leaves no trace: no lock, no open file, no words on its command line",
  },
};

const TITLED = ["--name", "a title of my own"];

function byCommand(command: string): (terminal: Terminal) => Promise<void> {
  return (terminal) => terminal.prompt(command);
}

function byKey(key: string): (terminal: Terminal) => Promise<void> {
  return (terminal) => terminal.press([key]);
}

/** Takes the names that pi-intercom 0.11 takes: its tool, its command, its shortcut and a line of its own. */
function intercomStandIn(home: string): ReturnType<NonNullable<Traits["person"]>["neighbour"]> {
  const text = `export default function (pi) {
  const open = async (ctx) => void (await ctx.ui.select("Sessions of the intercom", ["none"]));
  pi.registerTool({
    name: "intercom",
    label: "Intercom",
    description: "Sends a message to another session.",
    parameters: { type: "object", properties: { action: { type: "string" } }, required: ["action"] },
    execute: async () => ({ content: [{ type: "text", text: "sent" }], details: {} }),
  });
  pi.registerCommand("intercom", { description: "Sessions", handler: (_args, ctx) => open(ctx) });
  pi.registerShortcut("alt+m", { description: "Sessions", handler: open });
  pi.on("session_start", (_event, ctx) => {
    const { PI_INTERCOM_STABLE_ID: id, PI_INTERCOM_SESSION_NAME: name } = process.env;
    ctx.ui.setStatus("intercom", "intercom " + id + " " + name);
  });
}
`;
  writeText(join(home, ".pi", "agent", "extensions", "intercom.ts"), text);
  return {
    tool: "intercom",
    openedBy: [byCommand("/intercom"), byKey("M-m")],
    says: "Sessions of the intercom",
    statusLine: (project, name) => `intercom ${project}/${name} ${name}`,
  };
}

/** Says at each start of a session who and in which scope it is, as pi-intercom does, and lists the others of that scope. */
function sessionsStandIn(home: string): { command: string } {
  const folder = join(home, "sessions-seen");
  const text = `import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
export default function (pi) {
  const folder = ${JSON.stringify(folder)};
  const value = (name) => process.env[name]?.trim() || null;
  const scope = value("PI_INTERCOM_SCOPE_ID");
  pi.on("session_start", () => {
    mkdirSync(folder, { recursive: true });
    const id = value("PI_INTERCOM_STABLE_ID") ?? "unnamed-" + process.pid;
    const name = value("PI_INTERCOM_SESSION_NAME") ?? "unnamed";
    writeFileSync(folder + "/" + process.pid, JSON.stringify({ id, name, scope, pid: process.pid }));
  });
  const lives = (pid) => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  const list = async (_args, ctx) => {
    const all = readdirSync(folder).map((file) => JSON.parse(readFileSync(folder + "/" + file, "utf8")));
    const seen = all.filter((each) => each.pid !== process.pid && each.scope === scope && lives(each.pid));
    const named = seen.filter(({ name }) => name !== "unnamed").map(({ id, name }) => id + " as " + name);
    await ctx.ui.select("Sessions in " + (scope ?? "no scope") + ": " + (named.join(", ") || "none") + ".", ["close"]);
  };
  pi.registerCommand("sessions-seen", { description: "Other sessions", handler: list });
}
`;
  writeText(join(home, ".pi", "agent", "extensions", "sessions-seen.ts"), text);
  return { command: "/sessions-seen" };
}

/** An extension of the user's, where pi looks for them. */
function ownHooks(home: string): OwnHooks {
  const file = join(home, ".pi", "agent", "extensions", "own.ts");
  const events = ["before_agent_start", "agent_before_settle"];
  const marks = events.map((event) => join(home, `own-${event}-ran`));
  const handlers = events.map((event, at) => {
    return `  pi.on(${JSON.stringify(event)}, () => writeFileSync(${JSON.stringify(marks[at])}, ""));\n`;
  });
  writeText(file, `import { writeFileSync } from "node:fs";\nexport default function (pi) {\n${handlers.join("")}}\n`);
  return { settings: [file, join(home, ".pi", "agent", "models.json")], marks };
}
