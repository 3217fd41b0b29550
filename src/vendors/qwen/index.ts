import { join } from "node:path";
import type { Activity, Holder, SessionLocation, Sign, Transcript } from "../../protocol/records/conversation.ts";
import { homeDir } from "../../state/paths.ts";
import type { Environment } from "../../util/environment.ts";
import { fieldsOf, textOf } from "../../util/fields.ts";
import { own } from "../../util/own.ts";
import type { Adapter, ConfigDir, ProcessView } from "../adapter.ts";
import type { LaunchPlan, PlanRequest } from "../launch-plan.ts";
import { hasOption, optionsIn } from "../shared/arguments.ts";
import { failedTurnOf } from "../shared/failed-turn.ts";
import { findFile } from "../shared/find-file.ts";
import { asOption, firstPrompt } from "../shared/first-prompt.ts";
import { startMessageFile } from "../shared/hook-script.ts";
import { provedProgram, takesIdAndPrompt } from "../shared/identity.ts";
import { listTranscripts, wordsIn } from "../shared/listing.ts";
import { liveEntries, liveEntry, type ProcessStarts } from "../shared/live-registry.ts";
import { probeLines, type TranscriptLine, type TranscriptForm } from "../shared/transcript.ts";
import { QWEN_ARGUMENTS, PROMPT_OPTION, readQwenArgs } from "./arguments.ts";
import { INPUT_FILE, qwenDelivery } from "./delivery.ts";
import { withQwenTools } from "./mcp.ts";
import { qwenProgram } from "./program.ts";
import { chatsOf, qwenRelocation } from "./relocation.ts";
import { qwenScreen } from "./screen.ts";
import { injected, qwenRemoteBy, qwenUnrecordedBy } from "./settings.ts";
import { promptMark, qwenSplit } from "./split.ts";
import { isQwenTurn, qwenTurn, QWEN_TURN_SETTINGS } from "./turn.ts";

/**
 * Qwen Code takes an id of our choice and finds a conversation only from the folder it began in. In a terminal it
 * registers each live process; without one only its hooks tell.
 */
export const qwen: Adapter = {
  ...provedProgram(qwenProgram, "0.24.4"),
  launch: {
    readArgs: readQwenArgs,
    options: (args) => optionsIn(args, QWEN_ARGUMENTS),
    plan,
    withTools: withQwenTools,
    ...takesIdAndPrompt,
    // Qwen branches only under an id of its own choice.
    forks: false,
    startMessage: startMessageFile,
  },
  storage: {
    configDirOf,
    showsToolResults: true,
    refusals: [/^No saved session found with ID /],
    probe,
    writesTo: ({ configDir, launchCwd }) => join(configDir, chatsOf(launchCwd)),
    placeOf: (transcript) => /^(.+)\/projects\/[^/]+\/chats\/[^/]+$/.exec(transcript)?.[1] ?? null,
    relocation: qwenRelocation,
    list: (configDir, limit) =>
      listTranscripts({ folder: join(configDir, "projects"), depth: 2, idOf: idOfFile, form: FORM }, limit),
    unrecordedBy: (context) => qwenUnrecordedBy(context, QWEN_ARGUMENTS),
    split: qwenSplit,
    gluesToTornLine: true,
  },
  liveness: {
    watchDir: (configDir) => join(configDir, "sessions"),
    inspect,
    holders,
    onHook,
    leftovers: (configDir, process) => inspect(configDir, process.pid, { inspect: () => process }),
  },
  screen: qwenScreen,
  delivery: qwenDelivery,
  turn: qwenTurn,
};

/**
 * Options by which a program of the user's talks to qwen. Then it gets no input file of ours: theirs is the only one, and beside an
 * output of theirs ours would be a second place from which qwen's questions can be answered.
 */
const REMOTE_OPTIONS = ["--input-file", "--json-file", "--json-fd"];

function configDirOf(env: Environment): ConfigDir {
  if (env.QWEN_HOME) return { dir: env.QWEN_HOME, variables: { QWEN_HOME: env.QWEN_HOME } };
  const home = homeDir(env);
  return { dir: join(home, ".qwen"), variables: { QWEN_HOME: null, HOME: home } };
}

async function probe({ id, configDir }: SessionLocation, lastSeen: string | null): Promise<Transcript> {
  const probeFile = (file: string): Promise<Transcript> => probeLines(file, id, FORM);
  const known = lastSeen === null ? null : await probeFile(lastSeen);
  if (known !== null && known.state !== "absent") return known;
  const file = await findFile(join(configDir, "projects"), 2, (name) => name === `${id}.jsonl`);
  return file === null ? { state: "absent" } : probeFile(file);
}

function idOfFile(path: string): string | null {
  return /\/chats\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$/.exec(path)?.[1] ?? null;
}

const FORM: TranscriptForm = { header: false, read: readLine };

function readLine(line: Readonly<Record<string, unknown>>): TranscriptLine {
  const message = fieldsOf(line.message);
  const userText = line.type === "user" ? wordsIn(message.parts) : undefined;
  return {
    session: textOf(line.sessionId),
    version: textOf(line.version),
    seenIn: textOf(line.cwd) ?? undefined,
    words: userText,
  };
}

function plan(request: PlanRequest): LaunchPlan {
  const { step, session, args, runDir, configDir, cwd, environment = {} } = request;
  const identity = [step === "resume" ? "--resume" : "--session-id", session];
  const promptArgs = asOption(
    PROMPT_OPTION,
    firstPrompt(request, readQwenArgs(args).headless, QWEN_ARGUMENTS, "-i", PROMPT_OPTION),
  );
  const hooked = injected(runDir, environment, isQwenTurn(args) ? QWEN_TURN_SETTINGS : {});
  const hasRemote = hasOption(args, QWEN_ARGUMENTS, ...REMOTE_OPTIONS) || qwenRemoteBy({ configDir, cwd, environment });
  const input = readQwenArgs(args).headless || hasRemote ? [] : [{ name: INPUT_FILE, text: "" }];
  const inputArgs = input.flatMap(({ name }) => ["--input-file", join(runDir, name)]);
  return {
    args: [...identity, ...inputArgs, ...promptArgs, ...args],
    ...hooked,
    files: [...hooked.files, ...input],
  };
}

const EVIDENCE = "registry of live processes";

function inspect(configDir: string, pid: number, processes: ProcessStarts): Sign[] {
  const session = textOf(liveEntry(join(configDir, "sessions"), pid, processes)?.fields.sessionId);
  return session === null ? [] : [{ session, means: "open", evidence: EVIDENCE }];
}

/** In a terminal qwen registers its process; without one its command line is all there is to see. */
function holders({ id, configDir }: SessionLocation, processes: ProcessView): Holder[] {
  const registered = liveEntries(join(configDir, "sessions"), processes)
    .filter(({ fields }) => fields.sessionId === id)
    .map(({ pid }) => ({ pid, evidence: `qwen's ${EVIDENCE}` }));
  const headless = processes.commandLines().filter(({ argv }) => {
    const at = argv.findIndex((word) => word.endsWith("/@qwen-code/qwen-code/cli.js"));
    return at > 0 && argv.includes(id) && readQwenArgs(argv.slice(at + 1)).headless;
  });
  return [...registered, ...headless.map(({ pid }) => ({ pid, evidence: "its command line" }))];
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
  if (name === "Notification" && event.notification_type === "idle_prompt") return atRest(session);
  if (name === "Notification" && event.notification_type !== "permission_prompt") return null;
  const source = textOf(event.source);
  const asks = name === "Notification";
  return {
    session,
    means: "open",
    evidence: `${name} hook${source ? ` (${source})` : ""}`,
    transcript: textOf(event.transcript_path) ?? undefined,
    activity: asks ? "blocked" : own(ACTIVITY_OF_EVENT, name),
    prompt: name === "UserPromptSubmit" ? promptMark(event.prompt) : undefined,
    said: textOf(event.prompt) ?? textOf(event.last_assistant_message) ?? undefined,
    ...(asks ? { blocked: "permission" } : {}),
    ...(name === "StopFailure" ? failedTurnOf(event) : {}),
  };
}

/**
 * Qwen says whenever it begins to wait for its user, and says nothing else of a turn that was interrupted. It does so at its
 * start, too, maybe before it has opened anything, so that proves nothing.
 */
function atRest(session: string): Sign {
  return { session, means: "echo", evidence: "Notification hook (idle_prompt)", activity: "idle" };
}
