import { join } from "node:path";
import type { Holder, Outward, SessionLocation, Sign } from "../../protocol/records/conversation.ts";
import type { MissingVariable } from "../../protocol/records/environment.ts";
import { statIfThere } from "../../state/files.ts";
import { homeDir } from "../../state/paths.ts";
import type { Environment } from "../../util/environment.ts";
import { textOf } from "../../util/fields.ts";
import { own } from "../../util/own.ts";
import type { Adapter, ArgsInfo, ConfigDir, ProcessView } from "../adapter.ts";
import type { LaunchPlan, PlanRequest } from "../launch-plan.ts";
import { conflictOf, hasOption, optionsOf, wordSet, tokensOf, type Token, optionsIn } from "../shared/arguments.ts";
import { asWord, firstPrompt } from "../shared/first-prompt.ts";
import { startMessageFile } from "../shared/hook-script.ts";
import { provedProgram } from "../shared/identity.ts";
import { gitRootOf, type RecordingContext, type RecordingOff } from "../shared/recording.ts";
import { CODEX_ARGUMENTS, IMAGES } from "./arguments.ts";
import { mintThread } from "./app-server.ts";
import { codexDelivery } from "./delivery.ts";
import { launchHooks, type LaunchHooks } from "./hooks.ts";
import { withCodexTools } from "./mcp.ts";
import { foldersUpTo, variablesOfProvider } from "./named-variables.ts";
import { codexProgram } from "./program.ts";
import { codexScreen } from "./screen.ts";
import { codexTurn } from "./turn.ts";
import { profileSettings, THREAD_STORE, threadStoreIn } from "./settings.ts";
import {
  archivedBy,
  configDirOfFile,
  laterFiles,
  listCodex,
  probeCodex,
  readTurn,
  sessionOfFile,
} from "./transcripts.ts";

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
    options: (args) => optionsIn(args, CODEX_ARGUMENTS),
    plan,
    withTools: withCodexTools,
    identity: {
      kind: "minted",
      mint: (request) =>
        mintThread({ ...request, args: settingsIn(request.args, configDirOf(request.environment).dir) }),
    },
    forks: true,
    takesFirstPrompt: true,
    startMessage: startMessageFile,
    namedVariables,
  },
  storage: {
    configDirOf,
    refusals: [/^ERROR: No saved session found with ID /, /^Error: thread\/resume: .*no rollout found\b/],
    probe: probeCodex,
    laterFiles,
    writesTo: ({ configDir }) => join(configDir, "sessions"),
    placeOf: configDirOfFile,
    showsToolResults: true,
    list: listCodex,
    unrecordedBy,
    archivedBy,
  },
  liveness: {
    watchDir: (configDir) => join(configDir, LOCKS),
    inspect,
    holders,
    onHook,
    readTurn,
  },
  screen: codexScreen,
  delivery: codexDelivery,
  turn: codexTurn,
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
  const tokens = tokensOf(args, CODEX_ARGUMENTS);
  const plain = tokens.filter(({ kind }) => kind === "word" || kind === "literal");
  const exec = plain[0]?.kind === "word" && CODEX_ARGUMENTS.headless.has(plain[0].text) ? plain[0] : null;
  return { tokens, exec, first: plain[exec ? 1 : 0] ?? null };
}

function readArgs(args: readonly string[]): ArgsInfo {
  const { tokens, exec, first } = parse(args);
  const subcommand = first?.kind === "word" ? first.text : "";
  const choosing = Object.hasOwn(CHOOSING, subcommand) ? `${subcommand}: ${CHOOSING[subcommand]}` : null;
  const options = tokens.filter(({ kind }) => kind === "option").map(({ text }) => text);
  const noConversation =
    exec === null ? CODEX_ARGUMENTS.noConversation.has(subcommand) : subcommand === "review" || subcommand === "help";
  return {
    converses: !noConversation && !options.some((option) => CODEX_ARGUMENTS.noConversation.has(option)),
    headless: exec !== null,
    conflict: choosing ?? conflictOf(tokens, CODEX_ARGUMENTS),
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
  const { session, args, runDir } = request;
  const { tokens, exec } = parse(args);
  const hooks = setsHooks(tokens) ? NO_HOOKS : launchHooks(runDir);
  const noDaemon = hasOption(args, CODEX_ARGUMENTS, "--no-daemon") ? [] : ["--no-daemon"];
  const promptArgs = asWord(firstPrompt(request, exec !== null, CODEX_ARGUMENTS), args, CODEX_ARGUMENTS);
  const first = [...noDaemon, ...hooks.args];
  if (exec === null) return { args: [...first, "resume", session, ...args, ...promptArgs], files: hooks.files };
  const options = tokens.filter((word) => word.at !== exec.at && word.text !== "--" && isOptional(word));
  const before = options.filter(({ at }) => at < exec.at).flatMap(spelled);
  const behind = options.filter(({ at }) => at > exec.at).flatMap(spelled);
  const dashes = tokens.some(({ kind, text }) => kind === "option" && text === "--") ? ["--"] : [];
  const prompt = tokens.filter(({ kind, at }) => (kind === "word" || kind === "literal") && at !== exec.at);
  const promptWords = prompt.map(({ text }) => text);
  return {
    args: [...first, ...before, exec.text, ...behind, "resume", session, ...dashes, ...promptWords],
    files: hooks.files,
  };
}

const NO_HOOKS: LaunchHooks = { args: [], files: [] };

/** Tells whether the user sets hooks on the command line: two settings of one name are not added up, so theirs stand alone. */
function setsHooks(tokens: readonly Token[]): boolean {
  return tokens.some(({ option, text }) => {
    return option === "-c" || option === "--config" ? /^hooks\b/.test(text) : /^(?:-c|--config=)=?hooks\b/.test(text);
  });
}

const SETTINGS = wordSet("-c --config --enable --disable");

/** Returns the settings on the user's command line: a conversation belongs to the provider it was opened with. */
function settingsIn(args: readonly string[], configDir: string): string[] {
  const tokens = tokensOf(args, CODEX_ARGUMENTS);
  const settings = tokens.filter(
    (word) => SETTINGS.has(word.option ?? "") || optionsOf(word, CODEX_ARGUMENTS).some((each) => SETTINGS.has(each)),
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

function namedVariables(context: RecordingContext): MissingVariable[] {
  const tokens = tokensOf(context.args, CODEX_ARGUMENTS);
  const given = tokens.flatMap(({ kind, option, text }) => {
    if (option === "-c" || option === "--config") return [text];
    const joined = kind === "option" ? /^(?:-c|--config=)(.+)$/.exec(text)?.[1] : undefined;
    return joined === undefined ? [] : [joined];
  });
  return variablesOfProvider(context, given, profileIn(tokens));
}

/** The store of conversations that is gone with its process. */
const IN_MEMORY = "in_memory";

/**
 * Returns the setting that keeps conversations in memory: of the administrator, else of the command line, else of the project, else
 * of the profile, else codex's own, else the machine's. Those of a project count once its user trusts it, which may be any moment.
 */
function unrecordedBy({ args, cwd, configDir, etc = "/etc" }: RecordingContext): RecordingOff | null {
  const managed = join(etc, "codex", "managed_config.toml");
  const managedStore = threadStoreIn(managed);
  if (managedStore !== null) return inMemory(managedStore, managed);
  const tokens = tokensOf(args, CODEX_ARGUMENTS);
  const settings = tokens.filter(({ option, text }) => SETTINGS.has(option ?? "") || /^(-c|--config=)./.test(text));
  const given = settings.findLast(({ text }) => text.includes(THREAD_STORE))?.text;
  if (given !== undefined) {
    return given.includes(IN_MEMORY) ? { setting: given, place: "the command" } : null;
  }
  const profile = profileIn(tokens);
  const names = [...(profile === undefined ? [] : [`${profile}.config.toml`]), "config.toml"];
  const files = [
    ...foldersUpTo(gitRootOf(cwd) ?? cwd, cwd).map((folder) => join(folder, ".codex", "config.toml")),
    ...names.map((name) => join(configDir, name)),
    join(etc, "codex", "config.toml"),
  ];
  const found = files.map((place) => ({ place, store: threadStoreIn(place) })).find(({ store }) => store !== null);
  return found ? inMemory(found.store, found.place) : null;
}

function inMemory(store: string | null, place: string): RecordingOff | null {
  return store === IN_MEMORY ? { setting: `${THREAD_STORE}.type = "${IN_MEMORY}"`, place } : null;
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

/** The lock file stays after an exit and proves nothing; the lock on it does. */
async function holders({ id, configDir }: SessionLocation, processes: ProcessView): Promise<Holder[]> {
  const file = join(configDir, LOCKS, `${id}.lock`);
  const pids = await processes.lockHolders(file);
  return pids.map((pid) => ({ pid, evidence: "codex's writer lock" }));
}

/**
 * After `/new` the old lock is held for a while beside the new one: both are seen, and only the new one is news. While
 * codex takes a lock it opens those of others too, to clear them away, under a lock of its own: nothing is a sign then. The
 * transcript that codex keeps open tells where the conversation is: in a copy of the config dir its database may still lead
 * codex to the transcript of the original, so a lock there tells nothing by itself.
 */
function inspect(configDir: string, pid: number, processes: ProcessView): Sign[] {
  const files = processes.openFiles(pid);
  const locks = files.filter((file) => file.includes(`/${LOCKS}/`));
  if (locks.some((file) => file.endsWith("/.coordination.lock"))) return [];
  return locks.flatMap((file) => {
    const [, folder, session] = LOCK_FILE.exec(file) ?? [];
    if (session === undefined) return [];
    const writes = files
      .filter((each) => sessionOfFile(each) === session)
      .toSorted()
      .at(-1);
    const place = (writes === undefined ? null : configDirOfFile(writes)) ?? undefined;
    if (place === undefined && folder !== configDir) return [];
    const sinceMs = statIfThere(file)?.birthtimeMs;
    return [{ session, means: "open", evidence: "writer lock", sinceMs, place, writes }];
  });
}

const LOCK_FILE = new RegExp(`^(.+)/${LOCKS}/([0-9a-f-]{36})\\.lock$`);

/**
 * A hook tells at once what the rollout and the title of the terminal tell a second later: that a turn begins, that codex asks for
 * permission, that a tool has run. The lock shows where codex is, and the rollout when the turn is over.
 */
function onHook(event: Readonly<Record<string, unknown>>): Sign | null {
  const session = textOf(event.session_id);
  const name = textOf(event.hook_event_name);
  const outward = name === null ? undefined : own(OUTWARD_OF_EVENT, name);
  if (session === null || outward === undefined) return null;
  const said = textOf(event.prompt) ?? undefined;
  return { session, means: "echo", stays: true, evidence: `${name} hook`, ...outward, said };
}

const OUTWARD_OF_EVENT: Readonly<Record<string, Outward>> = {
  UserPromptSubmit: { activity: "busy" },
  PermissionRequest: { activity: "blocked", blocked: "permission" },
  PostToolUse: { activity: "busy" },
};
