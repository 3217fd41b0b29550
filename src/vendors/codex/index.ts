import { statSync } from "node:fs";
import { join } from "node:path";
import type { Holder, SessionLocation, Sign, Transcript } from "../../protocol/records/conversation.ts";
import { homeDir } from "../../state/paths.ts";
import type { Environment } from "../../util/environment.ts";
import { fieldsOf, textOf } from "../../util/fields.ts";
import type { Adapter, ArgsInfo, ConfigDir, ProcessView } from "../adapter.ts";
import type { LaunchPlan, PlanRequest } from "../launch-plan.ts";
import {
  conflictOf,
  hasOption,
  optionsOf,
  wordSet,
  tokensOf,
  type ArgumentTable,
  type Token,
} from "../shared/arguments.ts";
import { findFile } from "../shared/find-file.ts";
import { asWord, firstPrompt } from "../shared/first-prompt.ts";
import { provedProgram } from "../shared/identity.ts";
import { listTranscripts, wordsIn } from "../shared/listing.ts";
import { probeLines, type TranscriptLine, type TranscriptForm } from "../shared/transcript.ts";
import { mintThread } from "./app-server.ts";
import { codexEnvironment, codexProgram } from "./program.ts";
import { codexScreen } from "./screen.ts";
import { profileSettings } from "./settings.ts";

const LOCKS = "thread-writer-locks";

/**
 * Codex makes its own ids, so a conversation is opened through its app-server before the start. It locks the
 * conversation it writes, from the first moment: the earliest proof, and the surest sign that it is open elsewhere.
 * It is resumed by UUID only: with an unknown name codex would silently begin a new conversation.
 */
export const codex: Adapter = {
  ...provedProgram(codexProgram, "0.166.0"),
  launch: {
    readArgs,
    plan,
    identity: {
      kind: "minted",
      mint: (request) =>
        mintThread({ ...request, args: settingsIn(request.args, configDirOf(request.environment).dir) }),
    },
    forks: true,
    takesFirstPrompt: true,
    environment: codexEnvironment,
  },
  storage: {
    configDirOf,
    probe,
    list: (configDir, limit) =>
      listTranscripts({ folder: join(configDir, "sessions"), depth: 3, idOf: idOfFile, form: FORM }, limit),
  },
  liveness: {
    watchDir: (configDir) => join(configDir, LOCKS),
    inspect,
    holders,
  },
  screen: codexScreen,
};

const IMAGES = wordSet("-i --image");

const ARGUMENTS: ArgumentTable = {
  valued: wordSet(`-c --config --enable --disable --remote --remote-auth-token-env -m --model --local-provider
    -p --profile -s --sandbox -C --cd --add-dir -a --ask-for-approval --thread-source --cyber-access-program --output-schema -o --output-last-message --color`),
  many: IMAGES,
  noConversation:
    wordSet(`agents review login logout mcp plugin app-server remote-control completion update doctor sandbox debug
    apply a queue archive delete migrate-rollouts migrate-nfs-db unarchive cloud exec-server features help --version -V --help -h`),
  conflicts: {
    "--last": "it takes whatever conversation is newest",
    "--ephemeral": "nothing could be resumed",
    "--remote": "the conversation would not be on this machine",
  },
  headless: new Set(["exec", "e"]),
};

/** The subcommands that choose a conversation themselves, at the top and below `exec`. */
const CHOOSING: Readonly<Record<string, string>> = {
  resume: "perdure chooses the conversation",
  fork: "it would leave the worker's conversation",
};

interface Parsed {
  tokens: Token[];
  /** The word `exec`, with its place among the arguments. */
  exec: Token | null;
  /** The first word that is no option, below `exec` if that is there. */
  first: Token | null;
}

function parse(args: readonly string[]): Parsed {
  const tokens = tokensOf(args, ARGUMENTS);
  const plain = tokens.filter(({ kind }) => kind === "word" || kind === "literal");
  const exec = plain[0]?.kind === "word" && ARGUMENTS.headless.has(plain[0].text) ? plain[0] : null;
  return { tokens, exec, first: plain[exec ? 1 : 0] ?? null };
}

function readArgs(args: readonly string[]): ArgsInfo {
  const { tokens, exec, first } = parse(args);
  const subcommand = first?.kind === "word" ? first.text : "";
  const choosing = Object.hasOwn(CHOOSING, subcommand) ? `${subcommand}: ${CHOOSING[subcommand]}` : null;
  const options = tokens.filter(({ kind }) => kind === "option").map(({ text }) => text);
  const noConversation =
    exec === null ? ARGUMENTS.noConversation.has(subcommand) : subcommand === "review" || subcommand === "help";
  return {
    converses: !noConversation && !options.some((option) => ARGUMENTS.noConversation.has(option)),
    headless: exec !== null,
    conflict: choosing ?? conflictOf(tokens, ARGUMENTS),
  };
}

function configDirOf(env: Environment): ConfigDir {
  if (env.CODEX_HOME) return { dir: env.CODEX_HOME, variables: { CODEX_HOME: env.CODEX_HOME } };
  const home = homeDir(env);
  return { dir: join(home, ".codex"), variables: { CODEX_HOME: null, HOME: home } };
}

/**
 * Plans every start with `--no-daemon`: the vendor's shared daemon would hold the lock, carry the first run's environment
 * and outlive it. `exec` knows options that `exec resume` does not, so all of them stand before ours, and the prompt behind.
 */
function plan(request: PlanRequest): LaunchPlan {
  const { session, args } = request;
  const { tokens, exec } = parse(args);
  const noDaemon = hasOption(args, ARGUMENTS, "--no-daemon") ? [] : ["--no-daemon"];
  const promptArgs = asWord(firstPrompt(request, exec !== null, ARGUMENTS), args, ARGUMENTS);
  if (exec === null) return { args: [...noDaemon, "resume", session, ...args, ...promptArgs], files: [] };
  const options = tokens.filter((word) => word.at !== exec.at && word.text !== "--" && isOptional(word));
  const before = options.filter(({ at }) => at < exec.at).flatMap(spelled);
  const behind = options.filter(({ at }) => at > exec.at).flatMap(spelled);
  const dashes = tokens.some(({ kind, text }) => kind === "option" && text === "--") ? ["--"] : [];
  const prompt = tokens.filter(({ kind, at }) => (kind === "word" || kind === "literal") && at !== exec.at);
  const promptWords = prompt.map(({ text }) => text);
  return {
    args: [...noDaemon, ...before, exec.text, ...behind, "resume", session, ...dashes, ...promptWords],
    files: [],
  };
}

const SETTINGS = wordSet("-c --config --enable --disable");

/** Returns the settings on the user's command line: a conversation belongs to the provider it was opened with. */
function settingsIn(args: readonly string[], configDir: string): string[] {
  const tokens = tokensOf(args, ARGUMENTS);
  const settings = tokens.filter(
    (word) => SETTINGS.has(word.option ?? "") || optionsOf(word, ARGUMENTS).some((each) => SETTINGS.has(each)),
  );
  const profile = profileIn(tokens);
  return [...(profile === undefined ? [] : profileSettings(configDir, profile)), ...settings.map(({ text }) => text)];
}

/** Returns the profile of `-p x`, `-px`, `--profile x` or `--profile=x`. */
function profileIn(tokens: readonly Token[]): string | undefined {
  const apart = tokens.find(({ option }) => option === "-p" || option === "--profile")?.text;
  const joined = tokens
    .filter(({ kind }) => kind === "option")
    .map(({ text }) => /^(?:-p|--profile=)(.+)$/.exec(text)?.[1]);
  return apart ?? joined.find((name) => name !== undefined);
}

function isOptional({ kind }: Token): boolean {
  return kind === "option" || kind === "value";
}

/**
 * Spells a token out. The option for images takes all words that follow, ours too, so each image gets an option of its
 * own.
 */
function spelled({ text, kind, option }: Token): string[] {
  if (kind === "option" && IMAGES.has(text)) return [];
  return option !== undefined && IMAGES.has(option) ? [`--image=${text}`] : [text];
}

/**
 * A transcript is named by date and id. The id carries its time, but folders go by local dates, so all are searched for
 * the id.
 */
async function probe({ id, configDir }: SessionLocation, lastSeen: string | null): Promise<Transcript> {
  const known = lastSeen === null ? null : await probeFile(lastSeen, id);
  if (known !== null && known.state !== "absent") return known;
  const isTranscript = (name: string): boolean => name.startsWith("rollout-") && name.endsWith(`-${id}.jsonl`);
  const file = await findFile(join(configDir, "sessions"), 3, isTranscript);
  return file === null ? { state: "absent" } : probeFile(file, id);
}

function probeFile(file: string, id: string): Promise<Transcript> {
  return probeLines(file, id, FORM);
}

function idOfFile(path: string): string | null {
  return /rollout-.*-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$/.exec(path)?.[1] ?? null;
}

const FORM: TranscriptForm = { header: true, atBirth: true, read: readLine };

function readLine(line: Readonly<Record<string, unknown>>): TranscriptLine {
  const payload = fieldsOf(line.payload);
  const meta = line.type === "session_meta" ? payload : {};
  const userText = line.type === "response_item" && payload.role === "user" ? wordsIn(payload.content) : undefined;
  return {
    session: textOf(meta.id),
    version: textOf(meta.cli_version),
    cwd: textOf(meta.cwd) ?? undefined,
    spoken: line.type !== "session_meta" && payload.type !== "thread_settings_applied",
    // Codex's own context for the model has the same form.
    words: userText?.startsWith("<") === true ? undefined : userText,
  };
}

/** The lock file stays after an exit and proves nothing; the lock on it does. */
function holders({ id, configDir }: SessionLocation, processes: ProcessView): Holder[] {
  const file = join(configDir, LOCKS, `${id}.lock`);
  return processes.lockHolders(file).map((pid) => ({ pid, evidence: "codex's writer lock" }));
}

/**
 * After `/new` the old lock is held for a while beside the new one: both are seen, and only the new one is news. While
 * codex takes a lock it opens those of others too, to clear them away, under a lock of its own: nothing is a sign then.
 */
function inspect(configDir: string, pid: number, processes: ProcessView): Sign[] {
  const folder = `${join(configDir, LOCKS)}/`;
  const locks = processes.openFiles(pid).filter((file) => file.startsWith(folder));
  const names = locks.map((file) => file.slice(folder.length));
  if (names.includes(".coordination.lock")) return [];
  return names.flatMap((name) => {
    const session = /^([0-9a-f-]{36})\.lock$/.exec(name)?.[1];
    if (session === undefined) return [];
    const sinceMs = statSync(join(folder, name), { throwIfNoEntry: false })?.birthtimeMs;
    return [{ session, evidence: "writer lock", sinceMs }];
  });
}
