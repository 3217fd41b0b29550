import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Environment } from "../protocol/environment.ts";
import type { Activity, Holder, SessionPlace, Sign, Transcript } from "../protocol/session.ts";
import { isErrno } from "../state/files.ts";
import { homeDir } from "../state/paths.ts";
import type { Adapter, ConfigDir, LaunchPlan, PlanRequest, ProcessView } from "./adapter.ts";
import { hasOption, readArguments, wordSet, type ArgumentTable } from "./arguments.ts";
import { hookScript, quoted, TOLD_FILE } from "./hook-script.ts";
import { registryEntries, registryEntry, type RegistryEntry } from "./registry.ts";
import { probeLines, textOf } from "./transcript.ts";

/** Claude Code: takes an id of our choice, registers each live process with its conversation, runs hooks. */
export const claude: Adapter = {
  vendor: "claude",
  command: ["claude"],
  leaks: [
    "CLAUDECODE",
    "CLAUDE_PID",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_MESSAGING_SOCKET",
    "CLAUDE_CODE_MESSAGING_TOKEN",
    "CLAUDE_ENV_FILE",
  ],
  read: (args) => readArguments(args, ARGUMENTS),
  config,
  identity: { kind: "assigned", choose: () => process.getBuiltinModule("node:crypto").randomUUID() },
  probe,
  holders,
  plan,
  signs: (configDir) => join(configDir, "sessions"),
  look,
  hear,
  tell: (text) => {
    const hookSpecificOutput = { hookEventName: "SessionStart", additionalContext: text };
    return { name: TOLD_FILE, text: `${JSON.stringify({ hookSpecificOutput })}\n` };
  },
};

const ARGUMENTS: ArgumentTable = {
  // Those whose value could be taken for something else. `-r [value]` and its like are refused before it matters.
  valued:
    wordSet(`--agent --agents --append-system-prompt --append-system-prompt-file --system-prompt --system-prompt-file
    --model --fallback-model --effort --settings --setting-sources --permission-mode --permission-prompt-tool
    --permission-prompts --output-format --input-format --json-schema --max-budget-usd --max-turns --plugin-dir
    --plugin-url --debug-file --environment --autocompact --name -n`),
  aside: wordSet(`agents attach auth auto-mode doctor gateway import install logs mcp plugin plugins purge respawn rm
    setup-token stop kill ultrareview update upgrade --version -v --help -h`),
  conflicts: {
    "--resume": "perdure chooses the conversation",
    "-r": "perdure chooses the conversation",
    "--continue": "it takes whatever conversation is newest in the folder",
    "-c": "it takes whatever conversation is newest in the folder",
    "--session-id": "perdure chooses the id",
    "--fork-session": "it would leave the worker's conversation",
    "--from-pr": "it takes another conversation",
    "--teleport": "it takes another conversation",
    "--no-session-persistence": "nothing could be resumed",
    "--bg": "the process would leave its run",
    "--background": "the process would leave its run",
    "--cloud": "the conversation would not be on this machine",
    "--desktop": "the conversation would not be in this process",
  },
  headless: new Set(["-p", "--print"]),
};

/** With the variable set, `.claude.json` moves into the folder too: so set and unset are never exchanged. */
function config(env: Environment): ConfigDir {
  if (env.CLAUDE_CONFIG_DIR) {
    return { dir: env.CLAUDE_CONFIG_DIR, variables: { CLAUDE_CONFIG_DIR: env.CLAUDE_CONFIG_DIR } };
  }
  const home = homeDir(env);
  return { dir: join(home, ".claude"), variables: { CLAUDE_CONFIG_DIR: null, HOME: home } };
}

/** By its id, in whichever project folder it is: their names are cut short and made alike, so they are not computed. */
async function probe({ id, configDir }: SessionPlace, lastSeen: string | null): Promise<Transcript> {
  const files = lastSeen === null ? [] : [lastSeen];
  const projects = join(configDir, "projects");
  for (const folder of await foldersIn(projects)) files.push(join(projects, folder, `${id}.jsonl`));
  for (const file of files) {
    const transcript = await probeLines(file, id, (line) => ({
      session: textOf(line.sessionId),
      version: textOf(line.version),
    }));
    if (transcript.state !== "absent") return transcript;
  }
  return { state: "absent" };
}

async function foldersIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return [];
    throw error;
  }
}

/** One entry per live process, following `/clear` and `/rename`. */
function sessionOf({ fields }: RegistryEntry): string | null {
  return textOf(fields.sessionId);
}

function holders({ id, configDir }: SessionPlace, processes: ProcessView): Holder[] {
  return registryEntries(join(configDir, "sessions"), processes)
    .filter((entry) => sessionOf(entry) === id)
    .map(({ pid }) => ({ pid, evidence: "claude's registry of live processes" }));
}

const HOOKS = { SessionStart: "start", UserPromptSubmit: "prompt", Stop: "stop" } as const;

/** Ours come first: some of the user's options take all words that follow. */
function plan({ step, session, name, args, runDir }: PlanRequest): LaunchPlan {
  const identity = step === "new" ? ["--session-id", session] : ["--resume", session];
  const given = (...options: string[]): boolean => hasOption(args, ARGUMENTS, ...options);
  // Later the title is the user's: /rename.
  if (step === "new" && !given("--name", "-n")) identity.push("--name", name);
  // Two --settings do not add up; without our hooks the registry still tells.
  if (given("--settings")) return { args: [...identity, ...args], files: [] };
  const hook = (event: string): object[] => [
    { hooks: [{ type: "command", command: `/bin/sh ${quoted(join(runDir, "hook"))} ${event}`, timeout: 20 }] },
  ];
  const hooks = Object.fromEntries(Object.entries(HOOKS).map(([event, word]) => [event, hook(word)]));
  const settings = { name: "settings.json", text: `${JSON.stringify({ hooks })}\n` };
  return {
    args: [...identity, "--settings", join(runDir, settings.name), ...args],
    files: [settings, hookScript(runDir)],
  };
}

function look(configDir: string, pid: number, processes: ProcessView): Sign[] {
  const entry = registryEntry(join(configDir, "sessions"), pid, processes);
  const session = entry && sessionOf(entry);
  if (!entry || session === null) return [];
  return [{ session, evidence: "registry of live processes", activity: activityOf(entry.fields.status) }];
}

function activityOf(status: unknown): Activity | undefined {
  if (status === "waiting") return "blocked";
  return status === "busy" || status === "idle" ? status : undefined;
}

const HEARD: Readonly<Record<string, Activity>> = { SessionStart: "idle", UserPromptSubmit: "busy", Stop: "idle" };

function hear(event: Readonly<Record<string, unknown>>): Sign | null {
  const session = textOf(event.session_id);
  const name = textOf(event.hook_event_name);
  if (session === null || name === null) return null;
  const source = textOf(event.source);
  return {
    session,
    evidence: `${name} hook${source ? ` (${source})` : ""}`,
    transcript: textOf(event.transcript_path) ?? undefined,
    activity: HEARD[name],
  };
}
