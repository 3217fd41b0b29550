import { join } from "node:path";
import { WORDS_LENGTH_MAX } from "../../limits/index.ts";
import type { Activity, BlockedReason, Holder, SessionLocation, Sign } from "../../protocol/records/conversation.ts";
import { homeDir } from "../../state/paths.ts";
import type { Environment } from "../../util/environment.ts";
import { fieldsOf, textOf } from "../../util/fields.ts";
import { own } from "../../util/own.ts";
import type { Adapter, ConfigDir, ProcessView } from "../adapter.ts";
import type { LaunchPlan, PlanRequest } from "../launch-plan.ts";
import { hasOption, readArguments, optionsIn } from "../shared/arguments.ts";
import { asWord, firstPrompt } from "../shared/first-prompt.ts";
import { hookCommand, hookScript, startMessageFile } from "../shared/hook-script.ts";
import { provedProgram, takesIdAndPrompt } from "../shared/identity.ts";
import { failedTurnOf } from "../shared/failed-turn.ts";
import { liveEntries, liveEntry, type LiveEntry, type ProcessStarts } from "../shared/live-registry.ts";
import { ARGUMENTS } from "./arguments.ts";
import { claudeDelivery } from "./delivery.ts";
import { withClaudeTools } from "./mcp.ts";
import { claudeProgram } from "./program.ts";
import { claudeScreen } from "./screen.ts";
import { claudeTurn } from "./turn.ts";
import { areReadable, claudeUnrecordedBy, givenSettings, withoutSettings } from "./settings.ts";
import { claudeSplit, claudeTakesBack, listClaude, probeClaude, sweepsAfterDays } from "./transcripts.ts";

/** Claude Code takes an id of our choice, registers each live process with its conversation, and runs hooks. */
export const claude: Adapter = {
  ...provedProgram(claudeProgram, "2.1.325"),
  launch: {
    readArgs: (args) => readArguments(args, ARGUMENTS),
    options: (args) => optionsIn(args, ARGUMENTS),
    plan,
    withTools: withClaudeTools,
    ...takesIdAndPrompt,
    forks: true,
    startMessage: startMessageFile,
  },
  storage: {
    configDirOf,
    refusals: [/^No conversation found with session ID: /],
    probe: probeClaude,
    writesTo: ({ configDir, launchCwd }) => join(configDir, "projects", launchCwd.replaceAll(/[^a-zA-Z0-9]/g, "-")),
    placeOf: (transcript) => /^(.+)\/projects\/[^/]+\/[^/]+$/.exec(transcript)?.[1] ?? null,
    showsToolResults: true,
    list: listClaude,
    sweepsAfterDays,
    unrecordedBy: claudeUnrecordedBy,
    split: claudeSplit,
    takesBack: claudeTakesBack,
  },
  liveness: {
    watchDir: (configDir) => join(configDir, "sessions"),
    inspect,
    holders,
    onHook,
    leftovers: (configDir, process) => inspect(configDir, process.pid, { inspect: () => process }),
  },
  screen: claudeScreen,
  delivery: claudeDelivery,
  turn: claudeTurn,
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

const HOOKS = {
  SessionStart: "start",
  UserPromptSubmit: "prompt",
  PostToolUse: "tool",
  Stop: "stop",
  StopFailure: "failed",
} as const;

/** Our arguments come first: some of the user's options take all words that follow. */
function plan(request: PlanRequest): LaunchPlan {
  const { step, session, from, name, args, runDir } = request;
  const begun = from === null ? [] : ["--resume", from.session, "--fork-session"];
  const identity = step === "resume" ? ["--resume", session] : [...begun, "--session-id", session];
  const hasAny = (...options: string[]): boolean => hasOption(args, ARGUMENTS, ...options);
  // A resumed conversation keeps its title, which the user may have changed by /rename.
  if (step !== "resume" && !hasAny("--name", "-n")) identity.push("--name", name);
  const promptArgs = asWord(firstPrompt(request, hasAny(...ARGUMENTS.headless), ARGUMENTS), args, ARGUMENTS);
  // Without our hooks the registry still tells, 0.1 s later.
  if (!areReadable(args, request.cwd)) return { args: [...identity, ...args, ...promptArgs], files: [] };
  const settings = { name: "settings.json", text: `${JSON.stringify(settingsWith(request))}\n` };
  return {
    args: [...identity, "--settings", join(runDir, settings.name), ...withoutSettings(args), ...promptArgs],
    files: [settings, hookScript(runDir)],
  };
}

/** Returns the settings of the start: those of the user's command line, of which claude would read the last only, with our hooks. */
function settingsWith({ args, cwd, runDir }: PlanRequest): object {
  const given = givenSettings(args, cwd)?.settings ?? {};
  const hooks = { ...fieldsOf(given.hooks) };
  for (const [event, word] of Object.entries(HOOKS)) {
    const ours = { hooks: [{ type: "command", command: hookCommand(runDir, word), timeout: 20 }] };
    hooks[event] = [...(Array.isArray(hooks[event]) ? (hooks[event] as unknown[]) : []), ours];
  }
  return { ...given, hooks };
}

function inspect(configDir: string, pid: number, processes: ProcessStarts): Sign[] {
  const entry = liveEntry(join(configDir, "sessions"), pid, processes);
  const session = entry && sessionOf(entry);
  if (!entry || session === null) return [];
  const activity = activityOf(entry.fields.status);
  const blocked = activity === "blocked" ? own(WAITING_FOR, textOf(entry.fields.waitingFor) ?? "") : undefined;
  // An entry has no name while claude is writing it.
  const name = textOf(entry.fields.name)?.slice(0, WORDS_LENGTH_MAX);
  return [{ session, means: meaningOf(entry), evidence: "registry of live processes", activity, blocked, name }];
}

/**
 * Claude registers with the id of its command line, or a random one, before it looks for the conversation, and changes the
 * entry when it has opened another one. The status comes last: `idle`, once there is a prompt to answer, and never before.
 */
function meaningOf({ fields }: LiveEntry): Sign["means"] {
  return fields.status === "idle" || fields.status === "busy" ? "open" : "echo";
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
  const failed = name === "StopFailure" ? failedTurnOf(event) : null;
  return {
    session,
    means: "open",
    evidence: `${name} hook${source ? ` (${source})` : ""}`,
    transcript: textOf(event.transcript_path) ?? undefined,
    prompt: textOf(event.prompt_id) ?? undefined,
    said: textOf(event.prompt) ?? textOf(event.last_assistant_message) ?? undefined,
    ...(failed ?? { activity: own(ACTIVITY_OF_EVENT, name) }),
  };
}
