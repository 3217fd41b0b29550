import { basename, dirname, join, resolve } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { PerdureError } from "../../protocol/errors.ts";
import type {
  FoundConversation,
  Holder,
  SessionLocation,
  Sign,
  Transcript,
} from "../../protocol/records/conversation.ts";
import { statIfThere } from "../../state/files.ts";
import { homeDir } from "../../state/paths.ts";
import type { Environment } from "../../util/environment.ts";
import { fieldsOf, parseObject, textOf } from "../../util/fields.ts";
import { sha256 } from "../../util/sha256.ts";
import type { Adapter, ProgramAnswer, AskProgram, ConfigDir, ArgsInfo, ProcessView } from "../adapter.ts";
import { FREE_PORT, type LaunchPlan, type PlanRequest } from "../launch-plan.ts";
import { conflictOf, hasOption, optionsOf, wordSet, tokensOf, type Token, optionsIn } from "../shared/arguments.ts";
import { firstPrompt } from "../shared/first-prompt.ts";
import { provedProgram } from "../shared/identity.ts";
import { ENVIRONMENT } from "../shared/recording.ts";
import { OPENCODE_ARGUMENTS, ELSEWHERE } from "./arguments.ts";
import { opencodeDelivery } from "./delivery.ts";
import { firstPromptFile, listen, serverFile } from "./listen.ts";
import { withOpencodeTools } from "./mcp.ts";
import { mintSession } from "./mint.ts";
import { opencodeProgram } from "./program.ts";
import { opencodeRelocation } from "./relocation.ts";
import { opencodeTurn } from "./turn.ts";

/**
 * opencode makes its own ids, so a conversation is opened through its server before the start. All of them are in one
 * database, which only its own program is asked about. It shows nothing of where it is before the first prompt, and
 * then its server tells; without a terminal it has none, and what was added to the conversation is the proof.
 */
export const opencode: Adapter = {
  ...provedProgram(opencodeProgram, "1.18.33"),
  launch: {
    readArgs,
    options: (args) => optionsIn(args, OPENCODE_ARGUMENTS),
    plan,
    withTools: withOpencodeTools,
    identity: { kind: "minted", mint: mintSession },
    forks: true,
    takesFirstPrompt: true,
  },
  storage: {
    configDirOf,
    refusals: [/^Error: Session not found\b/],
    probe,
    writesTo: ({ configDir }) => databaseIn(configDir),
    slowProbe: true,
    // Seen with the real program: it runs the plugins of a repository even for `session list`.
    askedWith: { OPENCODE_PURE: "1", OPENCODE_DISABLE_PROJECT_CONFIG: "1" },
    placeOf: (database) => database,
    list,
    unrecordedBy: ({ environment }) =>
      environment.OPENCODE_DB === IN_MEMORY ? { setting: `OPENCODE_DB=${IN_MEMORY}`, place: ENVIRONMENT } : null,
    archive: { print: (session) => ["export", session], takeIn: (file) => ["import", file], missing, lost },
    relocation: opencodeRelocation,
  },
  liveness: {
    watchDir: () => null,
    inspect,
    holders,
    listen,
  },
  delivery: opencodeDelivery,
  turn: opencodeTurn,
};

/** The database that is gone with its process. */
const IN_MEMORY = ":memory:";

const INTERACTIVE = wordSet("-i --interactive");
/** The options of a user who needs the server. */
const SERVING = ["--port", "--hostname", "--mdns", "--mdns-domain"];

interface Parsed {
  tokens: Token[];
  /** The word `run`, with its place among the arguments. */
  run: Token | null;
  /** The first word that is no option. */
  first: Token | null;
}

function parse(args: readonly string[]): Parsed {
  const tokens = tokensOf(args, OPENCODE_ARGUMENTS);
  const first = tokens.find(({ kind }) => kind === "word" || kind === "literal") ?? null;
  return { tokens, first, run: first?.kind === "word" && OPENCODE_ARGUMENTS.headless.has(first.text) ? first : null };
}

function readArgs(args: readonly string[]): ArgsInfo {
  const { tokens, run, first } = parse(args);
  const options = tokens.flatMap((word) => optionsOf(word, OPENCODE_ARGUMENTS));
  const noConversation = run === null && first?.kind === "word" && OPENCODE_ARGUMENTS.noConversation.has(first.text);
  const folder = run === null && first !== null && !noConversation ? `${first.text}: ${ELSEWHERE}` : null;
  return {
    converses: !noConversation && !options.some((option) => OPENCODE_ARGUMENTS.noConversation.has(option)),
    headless: run !== null && !options.some((option) => INTERACTIVE.has(option)),
    conflict: conflictOf(tokens, OPENCODE_ARGUMENTS) ?? folder,
  };
}

/** Returns the data folder, or the database itself where the user has put that elsewhere. */
function configDirOf(env: Environment): ConfigDir {
  const home = homeDir(env);
  const data = env.XDG_DATA_HOME || null;
  const database = env.OPENCODE_DB || null;
  const folder = join(data ?? join(home, ".local", "share"), "opencode");
  return {
    dir: database === null ? folder : resolve(folder, database),
    variables: { XDG_DATA_HOME: data, OPENCODE_DB: database, ...(data === null ? { HOME: home } : {}) },
  };
}

/** Asks the program, which prints the whole conversation: the size of that is the size of the conversation. */
async function probe(
  { id, configDir }: SessionLocation,
  _lastSeen: string | null,
  ask: AskProgram,
): Promise<Transcript> {
  if (!/^ses_[A-Za-z0-9]+$/.test(id)) return { state: "absent" };
  const file = databaseIn(configDir);
  const answer = await ask(["export", id]);
  if (answer.code === 0) return readPrinted(answer.stdout, id, file);
  if (answer.stderr.includes(`Session not found: ${id}`)) return { state: "absent" };
  return { state: "damaged", file, bytes: 0, why: `opencode says: ${reasonIn(answer)}` };
}

function readPrinted(text: string, id: string, file: string): Transcript {
  const bytes = Buffer.byteLength(text);
  const { info, messages } = parseObject(text) ?? {};
  const fields = fieldsOf(info);
  const named = textOf(fields.id);
  if (named === null) return { state: "damaged", file, bytes, why: "opencode's export of it cannot be read" };
  if (named !== id) return { state: "damaged", file, bytes, why: `it belongs to conversation ${named}` };
  const cwd = textOf(fields.directory) ?? undefined;
  const unsaid = Array.isArray(messages) && messages.length === 0;
  const version = textOf(fields.version);
  const printed = sha256(text);
  return { state: "good", file, bytes, version, cwd, shrinks: true, printed, ...(unsaid && { unsaid }) };
}

function missing(earlier: string, now: string): number {
  const left = new Set(messageIds(now));
  return messageIds(earlier).filter((id) => !left.has(id)).length;
}

/**
 * Leaves out what `/undo` takes: everything from some message on, and that only when something else is said in its place. Until then
 * the messages stay, behind a mark.
 */
function lost(earlier: string, now: string): number {
  const [before, after] = [messageIds(earlier), new Set(messageIds(now))];
  const gone = before.filter((id) => !after.has(id));
  const isEnd = before.slice(before.length - gone.length).every((id) => !after.has(id));
  const saysMore = [...after].some((id) => !before.includes(id));
  return isEnd && saysMore ? 0 : gone.length;
}

function messageIds(printed: string): string[] {
  const { messages } = parseObject(printed) ?? {};
  return (Array.isArray(messages) ? messages : []).flatMap(
    (message: unknown) => textOf(fieldsOf(fieldsOf(message).info).id) ?? [],
  );
}

/** Returns the database; whether that can be read, opencode itself tells. */
function databaseIn(configDir: string): string {
  return statIfThere(configDir)?.isFile() === true ? configDir : join(configDir, "opencode.db");
}

/**
 * Returns the program's reason. A program that cannot be asked says nothing about the conversation, so that is an
 * error.
 */
function reasonIn({ code, stderr }: ProgramAnswer): string {
  const lastLine = stripVTControlCharacters(stderr).trim().split("\n").at(-1) ?? "";
  if (code !== null && code < 126) return lastLine;
  const why = code === null ? "it took too long and was stopped" : lastLine;
  throw new PerdureError("unavailable", `opencode did not answer about its conversations: ${why}.`, {
    hint: "start opencode once by hand to see what it needs",
  });
}

/** Lists the conversations of the project in whose folder the program is asked. */
async function list(_configDir: string, limit: number, ask: AskProgram): Promise<FoundConversation[]> {
  const answer = await ask(["session", "list", "--format", "json", "--max-count", String(limit)]);
  if (answer.code !== 0)
    throw new PerdureError("unavailable", `opencode could not list its conversations: ${reasonIn(answer)}.`);
  const rows: unknown = JSON.parse(answer.stdout.trim() || "[]");
  return (Array.isArray(rows) ? rows : []).flatMap((row: unknown) => {
    const fields = fieldsOf(row);
    const id = textOf(fields.id);
    const atMs = typeof fields.updated === "number" ? fields.updated : 0;
    return id === null ? [] : [{ id, file: null, cwd: textOf(fields.directory), words: textOf(fields.title), atMs }];
  });
}

/**
 * Shows a process that has another database open than it was told to use: a program in front may have led it there. Which
 * conversation it has open is not to be seen, so its command line has to tell, and nothing is proved by that.
 */
function inspect(configDir: string, pid: number, processes: ProcessView): Sign[] {
  const databases = processes.openFiles(pid).filter((file) => /\/opencode[^/]*\.db$/.test(file));
  const [place] = databases;
  if (place === undefined || databases.some((file) => file === configDir || dirname(file) === configDir)) return [];
  const argv = processes.commandLines().find((line) => line.pid === pid)?.argv ?? [];
  const session = valueOf(tokensOf(argv.slice(1), OPENCODE_ARGUMENTS), "-s", "--session");
  return session === null ? [] : [{ session, means: "echo", evidence: "its open database", place }];
}

/**
 * Finds processes by their command line, which is all they show; one that was started without an id, or has left it, is
 * not seen.
 */
function holders({ id }: SessionLocation, processes: ProcessView): Holder[] {
  const holds = ([program = "", ...args]: readonly string[]): boolean => {
    if (!/^opencode(\.exe)?$/.test(basename(program)) || !args.some((word) => word.includes(id))) return false;
    const tokens = tokensOf(args, OPENCODE_ARGUMENTS);
    return tokens.some(({ text, option }) => (isSession(option) ? text === id : text === `--session=${id}`));
  };
  return processes
    .commandLines()
    .filter(({ argv }) => holds(argv))
    .map(({ pid }) => ({ pid, evidence: "opencode's command line" }));
}

function isSession(option: string | undefined): boolean {
  return option === "-s" || option === "--session";
}

/**
 * In a terminal the program gets a server that only we can ask; a server of the user's is left as it is, and asked if
 * it is open.
 */
function plan(request: PlanRequest): LaunchPlan {
  const { session, args } = request;
  const { run, tokens } = parse(args);
  const identity = ["-s", session];
  // With `-s` opencode takes no prompt argument, so the prompt goes to its server.
  const prompt = firstPrompt(request, run !== null, OPENCODE_ARGUMENTS, "--prompt");
  const first =
    prompt === null ? [] : [firstPromptFile(prompt, valueOf(tokens, "-m", "--model"), valueOf(tokens, "--agent"))];
  if (run) return { args: args.toSpliced(run.at + 1, 0, ...identity), files: [] };
  if (hasOption(args, OPENCODE_ARGUMENTS, ...SERVING)) {
    const port = tokens.find(({ option }) => option === "--port")?.text ?? "";
    return { args: [...identity, ...args], files: [serverFile(port, null), ...first] };
  }
  const password = process.getBuiltinModule("node:crypto").randomUUID();
  return {
    args: [...identity, "--port", FREE_PORT, ...args],
    files: [serverFile(FREE_PORT, password), ...first],
    variables: { OPENCODE_SERVER_PASSWORD: password },
    freePort: true,
  };
}

function valueOf(tokens: readonly Token[], ...options: string[]): string | null {
  const joined = tokens.find(
    ({ kind, text }) => kind === "option" && options.some((each) => text.startsWith(`${each}=`)),
  );
  const apart = tokens.findLast(({ option }) => option !== undefined && options.includes(option))?.text;
  return apart ?? joined?.text.replace(/^[^=]*=/, "") ?? null;
}
