import { join } from "node:path";
import type { Activity, BlockedReason, Holder, SessionLocation, Sign } from "../../protocol/records/conversation.ts";
import { homeDir } from "../../state/paths.ts";
import type { Environment } from "../../util/environment.ts";
import { textOf } from "../../util/fields.ts";
import { own } from "../../util/own.ts";
import type { Adapter, ConfigDir, ProcessView } from "../adapter.ts";
import type { LaunchPlan, PlanRequest } from "../launch-plan.ts";
import { hasOption, readArguments, wordSet, type ArgumentTable } from "../shared/arguments.ts";
import { asWord, firstPrompt } from "../shared/first-prompt.ts";
import { hookCommand, hookScript, startMessageFile } from "../shared/hook-script.ts";
import { provedProgram, takesIdAndPrompt } from "../shared/identity.ts";
import { liveEntries, liveEntry, type LiveEntry, type ProcessStarts } from "../shared/live-registry.ts";
import { claudeEnvironment, claudeProgram } from "./program.ts";
import { claudeScreen } from "./screen.ts";
import { listClaude, probeClaude, sweepsAfterDays } from "./transcripts.ts";

/** Claude Code takes an id of our choice, registers each live process with its conversation, and runs hooks. */
export const claude: Adapter = {
  ...provedProgram(claudeProgram, "2.1.325"),
  launch: {
    readArgs: (args) => readArguments(args, ARGUMENTS),
    plan,
    ...takesIdAndPrompt,
    forks: true,
    startMessage: startMessageFile,
    environment: claudeEnvironment,
  },
  storage: {
    configDirOf,
    probe: probeClaude,
    list: listClaude,
    sweepsAfterDays,
  },
  liveness: {
    watchDir: (configDir) => join(configDir, "sessions"),
    inspect,
    holders,
    onHook,
    leftovers: (configDir, process) => inspect(configDir, process.pid, { inspect: () => process }),
  },
  screen: claudeScreen,
};

const ARGUMENTS: ArgumentTable = {
  // Only options whose value could be mistaken for something else are listed.
  valued:
    wordSet(`--agent --agents --append-system-prompt --append-system-prompt-file --system-prompt --system-prompt-file
    --model --fallback-model --effort --settings --setting-sources --permission-mode --permission-prompt-tool
    --permission-prompts --output-format --input-format --json-schema --max-budget-usd --max-turns --plugin-dir
    --plugin-url --debug-file --environment --autocompact --name -n`),
  optional: wordSet(
    "-r --resume --from-pr --teleport --cloud -d --debug -w --worktree --prompt-suggestions --remote-control",
  ),
  many: wordSet(`--add-dir --allowedTools --allowed-tools --disallowedTools --disallowed-tools --mcp-config --betas --file
    --tools`),
  noConversation:
    wordSet(`agents attach auth auto-mode doctor gateway import install logs mcp plugin plugins purge respawn rm
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

/** Returns claude's folder. A set CLAUDE_CONFIG_DIR moves `.claude.json` too, so set and unset are never exchanged. */
function configDirOf(env: Environment): ConfigDir {
  if (env.CLAUDE_CONFIG_DIR) {
    return { dir: env.CLAUDE_CONFIG_DIR, variables: { CLAUDE_CONFIG_DIR: env.CLAUDE_CONFIG_DIR } };
  }
  const home = homeDir(env);
  return { dir: join(home, ".claude"), variables: { CLAUDE_CONFIG_DIR: null, HOME: home } };
}

/** The registry entry of a process follows `/clear`. */
function sessionOf({ fields }: LiveEntry): string | null {
  return textOf(fields.sessionId);
}

function holders({ id, configDir }: SessionLocation, processes: ProcessView): Holder[] {
  return liveEntries(join(configDir, "sessions"), processes)
    .filter((entry) => sessionOf(entry) === id)
    .map(({ pid }) => ({ pid, evidence: "claude's registry of live processes" }));
}

const HOOKS = { SessionStart: "start", UserPromptSubmit: "prompt", Stop: "stop" } as const;

/** Our arguments come first: some of the user's options take all words that follow. */
function plan(request: PlanRequest): LaunchPlan {
  const { step, session, from, name, args, runDir } = request;
  const begun = from === null ? [] : ["--resume", from.session, "--fork-session"];
  const identity = step === "resume" ? ["--resume", session] : [...begun, "--session-id", session];
  const hasAny = (...options: string[]): boolean => hasOption(args, ARGUMENTS, ...options);
  // A resumed conversation keeps its title, which the user may have changed by /rename.
  if (step !== "resume" && !hasAny("--name", "-n")) identity.push("--name", name);
  const promptArgs = asWord(firstPrompt(request, hasAny(...ARGUMENTS.headless), ARGUMENTS), args, ARGUMENTS);
  // Two --settings are not merged, so the user's wins; without our hooks the registry still tells.
  if (hasAny("--settings")) return { args: [...identity, ...args, ...promptArgs], files: [] };
  const hook = (event: string): object[] => [
    { hooks: [{ type: "command", command: hookCommand(runDir, event), timeout: 20 }] },
  ];
  const hooks = Object.fromEntries(Object.entries(HOOKS).map(([event, word]) => [event, hook(word)]));
  const settings = { name: "settings.json", text: `${JSON.stringify({ hooks })}\n` };
  return {
    args: [...identity, "--settings", join(runDir, settings.name), ...args, ...promptArgs],
    files: [settings, hookScript(runDir)],
  };
}

function inspect(configDir: string, pid: number, processes: ProcessStarts): Sign[] {
  const entry = liveEntry(join(configDir, "sessions"), pid, processes);
  const session = entry && sessionOf(entry);
  if (!entry || session === null) return [];
  const activity = activityOf(entry.fields.status);
  const blocked = activity === "blocked" ? own(WAITING_FOR, textOf(entry.fields.waitingFor) ?? "") : undefined;
  return [{ session, evidence: "registry of live processes", activity, blocked }];
}

/** The registry says in these words what claude waits for. */
const WAITING_FOR: Readonly<Record<string, BlockedReason>> = {
  "permission prompt": "permission",
  "sandbox request": "permission",
  "input needed": "question",
  "dialog open": "question",
};

function activityOf(status: unknown): Activity | undefined {
  if (status === "waiting") return "blocked";
  return status === "busy" || status === "idle" ? status : undefined;
}

const ACTIVITY_OF_EVENT: Readonly<Record<string, Activity>> = {
  SessionStart: "idle",
  UserPromptSubmit: "busy",
  Stop: "idle",
};

function onHook(event: Readonly<Record<string, unknown>>): Sign | null {
  const session = textOf(event.session_id);
  const name = textOf(event.hook_event_name);
  if (session === null || name === null) return null;
  const source = textOf(event.source);
  return {
    session,
    evidence: `${name} hook${source ? ` (${source})` : ""}`,
    transcript: textOf(event.transcript_path) ?? undefined,
    activity: own(ACTIVITY_OF_EVENT, name),
  };
}
