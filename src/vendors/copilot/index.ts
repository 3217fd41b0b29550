import { basename, dirname, join, resolve } from "node:path";
import type { BlockedReason, Holder, SessionLocation, Sign, Transcript } from "../../protocol/records/conversation.ts";
import { isFolder } from "../../state/files.ts";
import { homeDir } from "../../state/paths.ts";
import type { Environment } from "../../util/environment.ts";
import { fieldsOf, textOf } from "../../util/fields.ts";
import { own } from "../../util/own.ts";
import type { Adapter, ConfigDir, ProcessView, WrittenTurn } from "../adapter.ts";
import type { LaunchPlan, PlanRequest } from "../launch-plan.ts";
import { hasOption, tokensOf, type Token, optionsIn } from "../shared/arguments.ts";
import { afterFailedTurn } from "../shared/failed-turn.ts";
import { asOption, firstPrompt } from "../shared/first-prompt.ts";
import { hookCommand, hookScript, START_MESSAGE_FILE } from "../shared/hook-script.ts";
import { provedProgram, takesIdAndPrompt } from "../shared/identity.ts";
import { listTranscripts } from "../shared/listing.ts";
import { probeLines, type TranscriptLine, type TranscriptForm } from "../shared/transcript.ts";
import type { Line } from "../shared/split.ts";
import { COPILOT_ARGUMENTS } from "./arguments.ts";
import { copilotDelivery } from "./delivery.ts";
import { EXTENSION_TOOLS, flagVariables, userFlags, wakeExtension } from "./extension.ts";
import { foregroundIn } from "./log.ts";
import { withCopilotTools } from "./mcp.ts";
import { copilotProgram, FLAGS, FLAGS_MARK } from "./program.ts";
import { copilotScreen } from "./screen.ts";
import { copilotTurn, failureIn, readArgs } from "./turn.ts";

/**
 * Copilot takes an id of our choice. One process may have several conversations open: its log tells which is in front,
 * and a mark lies beside each that was begun or written to. Its hooks come with a plugin folder.
 */
export const copilot: Adapter = {
  ...provedProgram(copilotProgram, "1.0.102"),
  launch: {
    readArgs,
    options: (args) => optionsIn(args, COPILOT_ARGUMENTS),
    plan,
    withTools: withCopilotTools,
    ...takesIdAndPrompt,
    forks: false,
    startMessage: (text) => ({ name: START_MESSAGE_FILE, text: `${JSON.stringify({ additionalContext: text })}\n` }),
    restoredEnv: (env) => (env[FLAGS_MARK] === undefined ? {} : { [FLAGS]: userFlags(env) || null }),
  },
  storage: {
    configDirOf,
    showsToolResults: true,
    refusals: [/^Error: No session, task, or name matched /, /^Error: Session file is corrupted\b/],
    probe: ({ id, configDir }: SessionLocation): Promise<Transcript> =>
      probeLines(join(configDir, "session-state", id, "events.jsonl"), id, FORM),
    writesTo: ({ configDir }) => join(configDir, "session-state"),
    placeOf,
    list: (configDir, limit) =>
      listTranscripts({ folder: join(configDir, "session-state"), depth: 1, idOf: idOfFile, form: FORM }, limit),
    takesBack: {
      read: ({ type, id, parentId, data }) => ({ type, id, parentId, infoType: fieldsOf(data).infoType }),
      judge: isRewound,
    },
  },
  liveness: {
    watchDir: (configDir) => join(configDir, "session-state"),
    inspect,
    holders,
    onHook,
    readTurn,
  },
  screen: copilotScreen,
  delivery: copilotDelivery,
  turn: copilotTurn,
};

function configDirOf(env: Environment): ConfigDir {
  if (env.COPILOT_HOME) return { dir: env.COPILOT_HOME, variables: { COPILOT_HOME: env.COPILOT_HOME } };
  const home = homeDir(env);
  return { dir: join(home, ".copilot"), variables: { COPILOT_HOME: null, HOME: home } };
}

function idOfFile(path: string): string | null {
  return /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/events\.jsonl$/.exec(path)?.[1] ?? null;
}

// The first line of a transcript names the conversation; lines before it are skipped.
const FORM: TranscriptForm = { header: false, atBirth: true, read: readLine };

function readLine(line: Readonly<Record<string, unknown>>): TranscriptLine {
  const data = fieldsOf(line.data);
  const start = line.type === "session.start" ? data : {};
  const words = line.type === "user.message" ? textOf(data.content) : null;
  return {
    session: textOf(start.sessionId),
    version: textOf(start.copilotVersion),
    cwd: textOf(fieldsOf(start.context).cwd) ?? undefined,
    spoken: !(textOf(line.type) ?? "").startsWith("session."),
    words: words ?? undefined,
  };
}

/** Copilot takes out what its user has rewound. Each event names the one before it, and one that tells of the rewind comes in the place. */
function isRewound(gone: readonly Line[], left: readonly Line[]): boolean {
  const rewinds = left.filter(({ type, infoType }) => type === "session.info" && infoType === "rewind");
  const before = new Set([...rewinds.map(({ parentId }) => parentId), ...gone.map(({ id }) => id)]);
  return rewinds.length > 0 && gone.every(({ parentId }) => parentId !== undefined && before.has(parentId));
}

const HOOKS = {
  sessionStart: "start",
  userPromptSubmitted: "prompt",
  postToolUse: "tool",
  notification: "notification",
  agentStop: "stop",
} as const;

/**
 * Plans with `--resume=` and not `--session-id`, which would begin a new conversation if the old one were gone. It cannot be
 * combined with a name, not even the user's. Our arguments come first: some of the user's options take all words that follow.
 */
function plan(request: PlanRequest): LaunchPlan {
  const { step, session, name, args, runDir } = request;
  const resumes = step === "resume";
  const named = hasOption(args, COPILOT_ARGUMENTS, "-n", "--name") ? [] : ["--name", name];
  const identity = resumes ? [`--resume=${session}`] : ["--session-id", session, ...named];
  const userArgs = resumes
    ? tokensOf(args, COPILOT_ARGUMENTS)
        .filter((word) => !isName(word))
        .map(({ text }) => text)
    : args;
  const { headless } = readArgs(args);
  const promptArgs = asOption(
    "--interactive",
    firstPrompt(request, headless, COPILOT_ARGUMENTS, "-i", "--interactive"),
  );
  const hook = (word: string): object[] => [{ type: "command", bash: hookCommand(runDir, word), timeoutSec: 20 }];
  const hooks = Object.fromEntries(Object.entries(HOOKS).map(([event, word]) => [event, hook(word)]));
  const waking = headless ? null : wakingPlan(request);
  const plugin = {
    name: "perdure",
    version: "1.0.0",
    hooks: "hooks.json",
    ...(waking === null ? {} : { extensions: "extensions" }),
  };
  return {
    args: [...identity, "--plugin-dir", join(runDir, "plugin"), ...(waking?.args ?? []), ...promptArgs, ...userArgs],
    files: [
      { name: "plugin/plugin.json", text: `${JSON.stringify(plugin)}\n` },
      { name: "plugin/hooks.json", text: `${JSON.stringify({ version: 1, hooks })}\n` },
      hookScript(runDir),
      ...(waking?.files ?? []),
    ],
    variables: waking?.variables ?? {},
  };
}

/** Plans the extension that wakes copilot; null where other people's extensions would be started along with it. */
function wakingPlan({ args, runDir, configDir, cwd, environment = {} }: PlanRequest): LaunchPlan | null {
  const plugins = tokensOf(args, COPILOT_ARGUMENTS)
    .flatMap(pluginDirOf)
    .map((folder) => resolve(cwd, folder));
  const variables = flagVariables(environment, { configDir, cwd, plugins });
  if (variables === null) return null;
  // A user who has turned extensions on has the tools for them, too.
  const withheld = Object.keys(variables).length === 0 ? [] : [`--excluded-tools=${EXTENSION_TOOLS.join(",")}`];
  return { args: withheld, files: [wakeExtension(runDir)], variables };
}

function pluginDirOf({ kind, text, option }: Token): string[] {
  if (kind === "value") return option === "--plugin-dir" ? [text] : [];
  const [, folder] = /^--plugin-dir=(.*)$/s.exec(kind === "option" ? text : "") ?? [];
  return folder === undefined ? [] : [folder];
}

function isName({ kind, text, option }: Token): boolean {
  if (kind === "value") return option === "-n" || option === "--name";
  return kind === "option" && /^(?:-n|--name$|--name=)/.test(text);
}

/**
 * Reads the conversation in front from the process's log, or else from the mark that the process keeps open. With several
 * marks, one of the conversations is in front, and nobody can tell which.
 */
function inspect(_configDir: string, pid: number, processes: Pick<ProcessView, "openFiles">): Sign[] {
  const files = processes.openFiles(pid);
  const log = files.find((file) => /\/process-[0-9]+-([0-9]+)\.log$/.exec(file)?.[1] === String(pid));
  const session = log === undefined ? null : foregroundIn(log);
  const marks = marksOf(pid, files);
  if (log !== undefined && session !== null) {
    const place = marks.find((mark) => mark.session === session)?.place ?? placeOfLog(log);
    return [{ session, means: "open", evidence: "its own log", place }];
  }
  return marks.length === 1 ? marks.map((mark) => ({ ...mark, means: "open", evidence: "in-use mark" })) : [];
}

/** Returns the conversations that the process keeps a mark of open, in whatever config dir. */
function marksOf(pid: number, files: readonly string[]): { session: string; place: string }[] {
  return files.flatMap((file) => {
    const place = file.endsWith(`/inuse.${pid}.hold`) ? placeOf(file) : null;
    return place === null ? [] : [{ session: basename(dirname(file)), place }];
  });
}

/** Returns the config dir of a file beside a conversation's transcript. */
function placeOf(file: string): string | null {
  return /^(.+)\/session-state\/[^/]+\/[^/]+$/.exec(file)?.[1] ?? null;
}

/** Returns the config dir of a log in the usual place; one that the user has put elsewhere tells nothing. */
function placeOfLog(log: string): string | undefined {
  const folder = /^(.+)\/logs\/[^/]+$/.exec(log)?.[1];
  return folder !== undefined && isFolder(join(folder, "session-state")) ? folder : undefined;
}

/**
 * A process holds the conversation in front and those kept open behind it. One that shows nothing yet was told where to
 * go on its command line.
 */
function holders({ id, configDir }: SessionLocation, processes: ProcessView): Holder[] {
  return processes.commandLines().flatMap(({ pid, argv }) => {
    if (!/(?:^|\/)copilot(?:\.exe)?$/.test(argv[0] ?? "")) return [];
    const shown = inspect(configDir, pid, processes);
    const marks = marksOf(pid, processes.openFiles(pid));
    const isIt = ({ session, place = configDir }: Pick<Sign, "session" | "place">): boolean =>
      session === id && place === configDir;
    if ([...shown, ...marks].some(isIt)) {
      return [{ pid, evidence: "copilot's log and in-use marks" }];
    }
    const named = shown.length === 0 && argv.some((word) => word === id || word === `--resume=${id}`);
    return named ? [{ pid, evidence: "its command line" }] : [];
  });
}

/**
 * An event is known by its fields. Only the first of a conversation means that it is in front: those behind it go on
 * and tell of it, too. Agents below the agent have ids of their own, which are no conversations.
 */
function onHook(event: Readonly<Record<string, unknown>>): Sign | null {
  const session = textOf(event.sessionId);
  if (session === null || "parentAgentId" in event) return null;
  if (typeof event.source === "string")
    return { session, means: "open", evidence: `sessionStart hook (${event.source})` };
  const signOf = (evidence: string, activity: Sign["activity"], blocked?: BlockedReason): Sign => {
    return { session, means: "open", evidence, activity, ...(blocked ? { blocked } : {}), stays: true };
  };
  if ("stopReason" in event) {
    const place = placeOf(textOf(event.transcriptPath) ?? "") ?? undefined;
    return { ...signOf("agentStop hook", "idle"), place };
  }
  if ("prompt" in event) {
    return { ...signOf("userPromptSubmitted hook", "busy"), said: textOf(event.prompt) ?? undefined };
  }
  if ("toolResult" in event) return signOf("postToolUse hook", "busy");
  const asks = own(ASKS, textOf(event.notification_type) ?? "");
  return asks ? signOf("notification hook", "blocked", asks) : null;
}

/**
 * Reads the events of the transcript that end a turn without a hook. The hooks tell the rest: events of agents below the agent
 * have the same form.
 */
function readTurn(line: Readonly<Record<string, unknown>>): WrittenTurn | null {
  const atMs = Date.parse(textOf(line.timestamp) ?? "");
  if (Number.isNaN(atMs) || (line.type !== "session.error" && line.type !== "abort")) return null;
  if (line.type === "abort") return { outward: { activity: "idle" }, atMs };
  return { outward: afterFailedTurn(failureIn(line)), atMs };
}

const ASKS: Readonly<Record<string, BlockedReason>> = {
  permission_prompt: "permission",
  elicitation_dialog: "question",
};
