import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Environment } from "../protocol/environment.ts";
import type { Holder, SessionPlace, Sign, Transcript } from "../protocol/session.ts";
import { isErrno } from "../state/files.ts";
import { homeDir } from "../state/paths.ts";
import type { Adapter, ConfigDir, LaunchPlan, PlanRequest, ProcessView, Reading } from "./adapter.ts";
import { conflictOf, wordSet, wordsOf, type ArgumentTable, type Word } from "./arguments.ts";
import { mintThread } from "./codex-app-server.ts";
import { probeLines, textOf } from "./transcript.ts";

const LOCKS = "thread-writer-locks";

/**
 * Codex: makes its own ids, so a conversation is opened through its app-server before the start. It locks the one it
 * writes, from the first moment: the earliest proof, and the surest sign that it is open elsewhere. Resumed by UUID
 * only: an unknown name would silently begin a new one.
 */
export const codex: Adapter = {
  vendor: "codex",
  command: ["codex"],
  leaks: ["CODEX_THREAD_ID", "CODEX_SESSION_ID"],
  read,
  config,
  identity: { kind: "minted", mint: mintThread },
  probe,
  holders,
  plan,
  signs: (configDir) => join(configDir, LOCKS),
  look,
};

const ARGUMENTS: ArgumentTable = {
  valued:
    wordSet(`-c --config --enable --disable --remote --remote-auth-token-env -i --image -m --model --local-provider
    -p --profile -s --sandbox -C --cd --add-dir -a --ask-for-approval --thread-source --cyber-access-program --output-schema -o --output-last-message --color`),
  aside: wordSet(`agents review login logout mcp plugin app-server remote-control completion update doctor sandbox debug
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
  words: Word[];
  /** `exec`, with its place among the arguments. */
  exec: Word | null;
  /** The first word that is no option, below `exec` if that is there. */
  first: Word | null;
}

function parse(args: readonly string[]): Parsed {
  const words = wordsOf(args, ARGUMENTS.valued);
  const plain = words.filter(({ kind }) => kind === "word" || kind === "literal");
  const exec = plain[0]?.kind === "word" && ARGUMENTS.headless.has(plain[0].text) ? plain[0] : null;
  return { words, exec, first: plain[exec ? 1 : 0] ?? null };
}

function read(args: readonly string[]): Reading {
  const { words, exec, first } = parse(args);
  const subcommand = first?.kind === "word" ? first.text : "";
  const choosing = Object.hasOwn(CHOOSING, subcommand) ? `${subcommand}: ${CHOOSING[subcommand]}` : null;
  const options = words.filter(({ kind }) => kind === "option").map(({ text }) => text);
  const aside = exec === null ? ARGUMENTS.aside.has(subcommand) : subcommand === "review" || subcommand === "help";
  return {
    converses: !aside && !options.some((option) => ARGUMENTS.aside.has(option)),
    headless: exec !== null,
    conflict: choosing ?? conflictOf(words, ARGUMENTS.conflicts),
  };
}

function config(env: Environment): ConfigDir {
  if (env.CODEX_HOME) return { dir: env.CODEX_HOME, variables: { CODEX_HOME: env.CODEX_HOME } };
  const home = homeDir(env);
  return { dir: join(home, ".codex"), variables: { CODEX_HOME: null, HOME: home } };
}

/**
 * `--no-daemon`, always: the vendor's shared daemon would hold the lock, carry the first run's environment and outlive it.
 * `exec` knows more options than `exec resume`, so ours stand behind the user's there, and before the prompt.
 */
function plan({ session, args }: PlanRequest): LaunchPlan {
  const { exec, first } = parse(args);
  if (exec === null) return { args: ["--no-daemon", "resume", session, ...args], files: [] };
  const prompt = first?.at ?? args.length;
  // `--` says that a prompt follows; it must go on standing right before it.
  const split = args[prompt - 1] === "--" ? prompt - 1 : prompt;
  return {
    args: ["--no-daemon", ...args.slice(0, split), "resume", session, ...args.slice(split)],
    files: [],
  };
}

/** Named by date and id. An id of this kind carries its time, but folders go by local dates: so all are searched, by id. */
async function probe({ id, configDir }: SessionPlace, lastSeen: string | null): Promise<Transcript> {
  const known = lastSeen === null ? null : await judge(lastSeen, id);
  if (known !== null && known.state !== "absent") return known;
  const file = await findRollout(join(configDir, "sessions"), `-${id}.jsonl`, 3);
  return file === null ? { state: "absent" } : judge(file, id);
}

function judge(file: string, id: string): Promise<Transcript> {
  return probeLines(file, id, (line) => {
    const payload = typeof line.payload === "object" && line.payload !== null ? { ...line.payload } : {};
    const meta: Readonly<Record<string, unknown>> = line.type === "session_meta" ? payload : {};
    return { session: textOf(meta.id), version: textOf(meta.cli_version) };
  });
}

/** Newest date first: that is where the wanted one usually is, and it is wanted by its id, not by its date. */
async function findRollout(folder: string, ending: string, depth: number): Promise<string | null> {
  const entries = await entriesOf(folder);
  if (depth === 0) {
    const file = entries.find((entry) => entry.startsWith("rollout-") && entry.endsWith(ending));
    return file === undefined ? null : join(folder, file);
  }
  for (const entry of entries.filter((each) => /^[0-9]+$/.test(each)).toSorted((a, b) => Number(b) - Number(a))) {
    const found = await findRollout(join(folder, entry), ending, depth - 1);
    if (found !== null) return found;
  }
  return null;
}

async function entriesOf(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return [];
    throw error;
  }
}

/** The file stays after an exit and proves nothing; the lock on it does. */
function holders({ id, configDir }: SessionPlace, processes: ProcessView): Holder[] {
  const file = join(configDir, LOCKS, `${id}.lock`);
  return processes.lockHolders(file).map((pid) => ({ pid, evidence: "codex's writer lock" }));
}

/** After `/new` the old lock is held for a while beside the new one: both are seen, and only the new one is news. */
function look(configDir: string, pid: number, processes: ProcessView): Sign[] {
  const folder = `${join(configDir, LOCKS)}/`;
  return processes
    .openFiles(pid)
    .filter((file) => file.startsWith(folder) && file.endsWith(".lock"))
    .map((file) => ({ session: file.slice(folder.length, -".lock".length), evidence: "writer lock" }));
}
