import { join } from "node:path";
import type { Activity, Holder, SessionLocation, Sign, Variables } from "../../protocol/records/conversation.ts";
import type { Environment } from "../../util/environment.ts";
import { fieldsOf, textOf } from "../../util/fields.ts";
import { own } from "../../util/own.ts";
import type { Adapter, ConfigDir, ProcessView } from "../adapter.ts";
import type { LaunchPlan, PlanRequest } from "../launch-plan.ts";
import { optionsIn, readArguments } from "../shared/arguments.ts";
import { asOption, firstPrompt } from "../shared/first-prompt.ts";
import { startMessageFile } from "../shared/hook-script.ts";
import { provedProgram, takesIdAndPrompt } from "../shared/identity.ts";
import { GEMINI_ARGUMENTS } from "./arguments.ts";
import { geminiDelivery } from "./delivery.ts";
import { withGeminiTools } from "./mcp.ts";
import { geminiHome, homeOfTranscript, OVERLAY_SETTINGS, overlayOf } from "./overlay.ts";
import { geminiProgram, OVERLAY_MARK } from "./program.ts";
import { geminiRelocation } from "./relocation.ts";
import { mergeSavedSettings, settingsLeftBeside } from "./saved-settings.ts";
import { geminiScreen } from "./screen.ts";
import { listGemini, probeGemini } from "./transcripts.ts";
import { geminiTurn, GEMINI_TURN_SETTINGS, isGeminiTurn } from "./turn.ts";

/**
 * Gemini CLI takes an id of our choice, runs hooks, and shows nothing else of where it is. A loader that does not
 * listen to TERM and HUP stands in front of the process that works. A conversation is resumed only in the folder it began in.
 */
export const gemini: Adapter = {
  ...provedProgram(geminiProgram, "0.61.0"),
  launch: {
    readArgs: (args) => readArguments(args, GEMINI_ARGUMENTS),
    options: (args) => optionsIn(args, GEMINI_ARGUMENTS),
    plan,
    withTools: withGeminiTools,
    // A file's name has only the first eight characters of the id, so they must be random.
    ...takesIdAndPrompt,
    // Gemini branches only under an id of its own choice, and only at the start that continues in the branch.
    forks: false,
    startMessage: startMessageFile,
    startMessageEatsPrompt: true,
    restoredEnv,
    savedSettings: { file: OVERLAY_SETTINGS, merge: mergeSavedSettings, leftBeside: settingsLeftBeside },
    loaderSwallowsSignals: true,
  },
  storage: {
    configDirOf,
    showsToolResults: true,
    refusals: [/^Error resuming session: /],
    probe: probeGemini,
    writesTo: ({ configDir }) => join(configDir, ".gemini", "tmp"),
    placeOf: (transcript) => homeOfTranscript(transcript) ?? null,
    list: listGemini,
    relocation: geminiRelocation,
  },
  liveness: {
    watchDir: (configDir) => join(configDir, ".gemini", "tmp"),
    inspect: () => [],
    holders,
    onHook,
  },
  screen: geminiScreen,
  delivery: geminiDelivery,
  turn: geminiTurn,
};

/** The option that says something and stays for more. */
const PROMPT_OPTION = "--prompt-interactive";

/**
 * Returns the folder in which `.gemini` is. The list of trusted folders is written by rename, past any link, so it has
 * a variable of its own.
 */
function configDirOf(env: Environment): ConfigDir {
  const dir = geminiHome(env);
  const trusted = env.GEMINI_CLI_TRUSTED_FOLDERS_PATH || join(dir, ".gemini", "trustedFolders.json");
  return { dir, variables: { GEMINI_CLI_HOME: dir, GEMINI_CLI_TRUSTED_FOLDERS_PATH: trusted } };
}

/** A worker that was started from inside another one must not use that one's overlay. */
function restoredEnv(env: Environment): Variables {
  return env[OVERLAY_MARK] ? { GEMINI_CLI_HOME: geminiHome(env) } : {};
}

/** A process and the one it loads have the same command line: the one in front counts. */
function holders({ id }: SessionLocation, processes: ProcessView): Holder[] {
  const lines = processes.commandLines().filter(({ argv }) => hasIdArgument(argv, id) && isGemini(argv));
  const found = lines.flatMap(({ pid }) => processes.inspect(pid) ?? []);
  const pids = new Set(found.map(({ pid }) => pid));
  return found
    .filter(({ parentPid }) => !pids.has(parentPid))
    .map(({ pid }) => ({ pid, evidence: "its command line" }));
}

/** True for `node gemini …` and `node --max-old-space-size=… /…/gemini-cli/bundle/gemini.js …`. */
function isGemini(argv: readonly string[]): boolean {
  const [interpreter = "", script = ""] = argv.filter((word, at) => at === 0 || !word.startsWith("-"));
  return /(^|\/)(node|bun|deno)$/.test(interpreter) && /(^|\/)gemini(\.js)?$/.test(script);
}

function hasIdArgument(argv: readonly string[], id: string): boolean {
  return argv.some((word, at) => word === id && /^(-r|--resume|--session-id)$/.test(argv[at - 1] ?? ""));
}

/**
 * The hooks, each with the word it is called with. PreCompress is not among them: it comes before every call of the
 * model. Nor is the one before a tool: it comes before the question whether it may run.
 */
const HOOKS = {
  SessionStart: "start",
  BeforeAgent: "prompt",
  AfterTool: "tool",
  AfterAgent: "stop",
  Notification: "notification",
} as const;

function plan(request: PlanRequest): LaunchPlan {
  const { step, session, args, runDir, configDir } = request;
  const identity = [step === "resume" ? "--resume" : "--session-id", session];
  const { headless } = readArguments(args, GEMINI_ARGUMENTS);
  const promptArgs = asOption(PROMPT_OPTION, firstPrompt(request, headless, GEMINI_ARGUMENTS, "-i", PROMPT_OPTION));
  return {
    args: [...identity, ...promptArgs, ...args],
    ...overlayOf(configDir, runDir, HOOKS, isGeminiTurn(args) ? GEMINI_TURN_SETTINGS : {}),
  };
}

const ACTIVITY_OF_EVENT: Readonly<Record<string, Activity>> = {
  SessionStart: "idle",
  BeforeAgent: "busy",
  AfterAgent: "idle",
};

/** Reads only the home from the transcript that a hook names: a resumed gemini names the stub at its start. */
function onHook(event: Readonly<Record<string, unknown>>): Sign | null {
  const session = textOf(event.session_id);
  const name = textOf(event.hook_event_name);
  if (session === null || name === null) return null;
  const source = textOf(event.source) ?? textOf(event.notification_type);
  const evidence = `${name} hook${source ? ` (${source})` : ""}`;
  const place = homeOfTranscript(textOf(event.transcript_path) ?? "");
  if (event.notification_type === "ToolPermission") {
    const blocked = isQuestion(event.details) ? "question" : "permission";
    return { session, means: "open", evidence, activity: "blocked", blocked, place };
  }
  // The end of a turn repeats the prompt beside the answer.
  const said = textOf(event.prompt_response) ?? textOf(event.prompt) ?? undefined;
  return { session, means: "open", evidence, activity: own(ACTIVITY_OF_EVENT, name), said, place };
}

/** The tool that asks the user something asks for permission too: that permission is the question. */
function isQuestion(details: unknown): boolean {
  return fieldsOf(details).type === "ask_user";
}
