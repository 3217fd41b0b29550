import { join } from "node:path";
import type { FoundConversation, SessionLocation, Transcript } from "../../protocol/records/conversation.ts";
import { DIST, homeDir } from "../../state/paths.ts";
import type { Environment } from "../../util/environment.ts";
import { fieldsOf, textOf } from "../../util/fields.ts";
import type { Adapter, ArgsInfo, ConfigDir } from "../adapter.ts";
import type { LaunchPlan, PlanRequest } from "../launch-plan.ts";
import { hasOption, readArguments, wordSet, tokensOf, optionsIn } from "../shared/arguments.ts";
import { findFile } from "../shared/find-file.ts";
import { asWord, firstPrompt } from "../shared/first-prompt.ts";
import { START_MESSAGE_FILE } from "../shared/hook-script.ts";
import { provedProgram, takesIdAndPrompt } from "../shared/identity.ts";
import { listTranscripts, wordsIn } from "../shared/listing.ts";
import { probeLines, type TranscriptLine, type TranscriptForm } from "../shared/transcript.ts";
import type { Line } from "../shared/split.ts";
import { PI_ARGUMENTS } from "./arguments.ts";
import { piDelivery } from "./delivery.ts";
import { extension, extensionFile, onHook } from "./extension.ts";
import { withPiTools } from "./mcp.ts";
import { piProgram } from "./program.ts";
import { piRelocation, projectFolderOf } from "./relocation.ts";
import { piSplit } from "./split.ts";
import { piTurn } from "./turn.ts";

/**
 * Pi takes an id of our choice, and keeps the conversation in its own folder, where its own picker finds it; a file of
 * ours would be seen by nobody else. It is resumed by its file: by id it looks among the current folder's only, and
 * begins a second one where it cannot read the first. It leaves no trace of a live process, so its extension alone
 * tells.
 */
export const pi: Adapter = {
  ...provedProgram(piProgram, "1.5.0"),
  launch: {
    readArgs,
    options: (args) => optionsIn(args, PI_ARGUMENTS),
    plan,
    withTools: withPiTools,
    ...takesIdAndPrompt,
    forks: true,
    extensionByHand: join(DIST, "..", "bin", "pi-extension.mjs"),
    startMessage: (text) => ({ name: START_MESSAGE_FILE, text }),
  },
  storage: {
    configDirOf,
    showsToolResults: true,
    refusals: [/^Stored session working directory does not exist: /],
    probe,
    // Where the user has put all conversations into one folder there is no such folder in it, and that one itself counts.
    writesTo: ({ configDir, launchCwd }) => join(configDir, "sessions", projectFolderOf(launchCwd)),
    // It is resumed by its file, wherever that lies, so any other file is another conversation of the same id.
    placeOf: (transcript) => transcript,
    list,
    relocation: piRelocation,
    split: piSplit,
    takesBack: {
      read: ({ type, id, version }) => ({ type, id, version }),
      judge: isMigrated,
    },
  },
  liveness: {
    watchDir: () => null,
    inspect: () => [],
    holders: () => [],
    onHook,
    tellsItself: true,
  },
  delivery: piDelivery,
  turn: piTurn,
};

const SUBCOMMANDS = wordSet("install remove uninstall update list config auth mcp");
const HEADLESS_MODES = wordSet("json rpc");

/** A subcommand is one only as the very first word: behind an option the same word is a prompt. */
function readArgs(args: readonly string[]): ArgsInfo {
  const { converses, headless, conflict } = readArguments(args, PI_ARGUMENTS);
  const mode = tokensOf(args, PI_ARGUMENTS).findLast(({ option }) => option === "--mode")?.text ?? "";
  return {
    converses: converses && !SUBCOMMANDS.has(args[0] ?? ""),
    headless: headless || HEADLESS_MODES.has(mode),
    conflict,
  };
}

/** Returns pi's folder, or the folder of the conversations where the user has put them elsewhere. */
function configDirOf(env: Environment): ConfigDir {
  const agent = env.PI_CODING_AGENT_DIR || null;
  const sessions = env.PI_CODING_AGENT_SESSION_DIR || null;
  const home = homeDir(env);
  return {
    dir: sessions ?? agent ?? join(home, ".pi", "agent"),
    variables: {
      PI_CODING_AGENT_DIR: agent,
      PI_CODING_AGENT_SESSION_DIR: sessions,
      ...(agent === null ? { HOME: home } : {}),
    },
  };
}

/**
 * Transcripts lie in a folder per project, or all in one where the user chose it. A file is found by its name whatever
 * is in it: one whose first line is bad is no conversation to pi, which would begin a second one under the same id.
 */
async function probe({ id, configDir }: SessionLocation, lastSeen: string | null): Promise<Transcript> {
  const known = lastSeen === null ? null : await probeLines(lastSeen, id, FORM);
  if (known !== null && known.state !== "absent") return known;
  const isTranscript = (name: string): boolean => idOfFile(name) === id;
  const file =
    (await findFile(join(configDir, "sessions"), 1, isTranscript)) ?? (await findFile(configDir, 0, isTranscript));
  return file === null ? { state: "absent" } : probeLines(file, id, FORM);
}

async function list(configDir: string, limit: number): Promise<FoundConversation[]> {
  const found = await Promise.all([
    listTranscripts({ folder: join(configDir, "sessions"), depth: 1, idOf: idOfFile, form: FORM }, limit),
    listTranscripts({ folder: configDir, depth: 0, idOf: idOfFile, form: FORM }, limit),
  ]);
  return found
    .flat()
    .toSorted((a, b) => b.atMs - a.atMs)
    .slice(0, limit);
}

/** A transcript is called `2026-11-16T02-33-27-123Z_<id>.jsonl`. */
function idOfFile(path: string): string | null {
  return /(?:^|\/)[0-9TZ-]+_([^/]+)\.jsonl$/.exec(path)?.[1] ?? null;
}

const FORM: TranscriptForm = { header: true, read: readLine };

function readLine(line: Readonly<Record<string, unknown>>): TranscriptLine {
  const header = line.type === "session" ? line : {};
  const message = fieldsOf(line.message);
  const userText = message.role === "user" ? message.content : undefined;
  return {
    session: textOf(header.id),
    version: null,
    cwd: textOf(header.cwd) ?? undefined,
    words: wordsIn(userText),
  };
}

/** Pi writes a transcript of an earlier form anew when it opens that: with a later version in its first line, and every entry in it. */
function isMigrated([before, ...gone]: readonly Line[], [after, ...left]: readonly Line[]): boolean {
  if (before?.type !== "session" || after?.type !== "session" || before.id !== after.id) return false;
  const ids = new Set(left.map(({ id }) => id));
  return (
    Number(after.version ?? 1) > Number(before.version ?? 1) &&
    left.length >= gone.length &&
    gone.every(({ id }) => id === undefined || ids.has(id))
  );
}

/** Our arguments come first: behind a `--` of the user's they would be prompts. */
function plan(request: PlanRequest): LaunchPlan {
  const { step, session, from, name, args, runDir, transcript } = request;
  const title = hasOption(args, PI_ARGUMENTS, "-n", "--name") ? [] : ["--name", name];
  const begun = from === null ? [] : ["--fork", from.transcript ?? from.session];
  const identity =
    step === "resume" && transcript !== null
      ? ["--session", transcript]
      : [...begun, "--session-id", session, ...title];
  // Even behind a `--` a word that begins with @ is a file.
  const prompt = firstPrompt(request, readArgs(args).headless, PI_ARGUMENTS)?.replace(/^@/, " @") ?? null;
  const promptArgs = asWord(prompt, args, PI_ARGUMENTS);
  return { args: [...identity, "-e", extensionFile(runDir), ...args, ...promptArgs], files: [extension(runDir)] };
}
