import { globSync, readdirSync, readlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { processTable } from "../../src/runtime/process/index.ts";
import { isErrno, readIfThere } from "../../src/state/files.ts";

// Each persona's flags and files, read without the adapters: those are what is tested.

export type Vendor = "scripted" | "claude" | "codex";

export interface PersonaFacts {
  vendor: Vendor;
  /** The program's name on PATH. */
  program: string;
  /** The config dir, relative to HOME. */
  configDir: string;
  /** The variable that moves the config dir. */
  variable: string;
  /** The program takes an id of our choice; else it makes its own, and one without a transcript cannot be resumed. */
  takesIds: boolean;
  /** The program reports a new conversation by a hook, not only by its files: nothing is lost if a kill follows at once. */
  announcesRotation: boolean;
  headless(prompt: string): string[];
  liveSessions(configDir: string): { pid: number; session: string }[];
  transcript(configDir: string, id: string): string | null;
  prompts(transcript: string): string[];
  /** The conversation that a command line resumes, and the one that it begins under a given id. */
  resumedIn(args: readonly string[]): string | null;
  begunIn(args: readonly string[]): string | null;
}

type Line = Readonly<Record<string, unknown>>;

export const PERSONA_FACTS: Readonly<Record<Vendor, PersonaFacts>> = {
  scripted: {
    vendor: "scripted",
    program: "perdure-scripted",
    configDir: ".local/share/perdure-scripted",
    variable: "PERDURE_SCRIPTED_HOME",
    takesIds: true,
    announcesRotation: false,
    headless: (prompt) => ["-p", prompt],
    liveSessions: (configDir) => registered(join(configDir, "live"), "session"),
    transcript: (configDir, id) => found(configDir, `sessions/${id}.jsonl`),
    prompts: (transcript) => lines(transcript).flatMap(({ type, text }) => (type === "user" ? [String(text)] : [])),
    resumedIn: (args) => wordAfter(args, "--resume"),
    begunIn: (args) => wordAfter(args, "--session-id"),
  },
  claude: {
    vendor: "claude",
    program: "claude",
    configDir: ".claude",
    variable: "CLAUDE_CONFIG_DIR",
    takesIds: true,
    announcesRotation: true,
    headless: (prompt) => ["-p", prompt],
    liveSessions: (configDir) => registered(join(configDir, "sessions"), "sessionId"),
    transcript: (configDir, id) => found(configDir, `projects/*/${id}.jsonl`),
    prompts: (transcript) =>
      lines(transcript).flatMap(({ type, message }) => (type === "user" ? [String(asObject(message).content)] : [])),
    resumedIn: (args) => wordAfter(args, "--resume"),
    begunIn: (args) => wordAfter(args, "--session-id"),
  },
  codex: {
    vendor: "codex",
    program: "codex",
    configDir: ".codex",
    variable: "CODEX_HOME",
    takesIds: false,
    announcesRotation: false,
    headless: (prompt) => ["exec", prompt],
    liveSessions: locking,
    transcript: (configDir, id) => found(configDir, `sessions/*/*/*/rollout-*-${id}.jsonl`),
    prompts: (transcript) =>
      lines(transcript).flatMap(({ payload }) => {
        const { role, content } = asObject(payload);
        return role === "user" && Array.isArray(content) ? [String(asObject(content[0]).text)] : [];
      }),
    resumedIn: (args) => wordAfter(args, "resume"),
    begunIn: () => null,
  },
};

export const VENDORS: readonly Vendor[] = ["scripted", "claude", "codex"];

function wordAfter(args: readonly string[], word: string): string | null {
  const at = args.indexOf(word);
  return at < 0 ? null : (args[at + 1] ?? null);
}

function found(configDir: string, pattern: string): string | null {
  const [file] = globSync(pattern, { cwd: configDir });
  return file === undefined ? null : join(configDir, file);
}

/** The registry's entries of live processes; those of killed ones stay behind. */
function registered(folder: string, field: string): { pid: number; session: string }[] {
  const table = processTable();
  return entries(folder).flatMap((file) => {
    const entry = lines(readIfThere(join(folder, file)) ?? "")[0] ?? {};
    const pid = Number(basename(file, ".json"));
    const lives = table.inspect(pid)?.startedAt === entry.procStart;
    return lives ? [{ pid, session: String(entry[field]) }] : [];
  });
}

/** Processes that have a lock file open and are no flock(1) on its way to become codex. */
function locking(configDir: string): { pid: number; session: string }[] {
  const folder = `${join(configDir, "thread-writer-locks")}/`;
  const table = processTable();
  return entries("/proc").flatMap((entry) => {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || table.argv(pid)[0] !== "codex") return [];
    const locks = openFiles(pid).filter((file) => file.startsWith(folder));
    return locks.map((file) => ({ pid, session: basename(file, ".lock") }));
  });
}

function openFiles(pid: number): string[] {
  return entries(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
    } catch (error) {
      if (isErrno(error, "ENOENT", "ESRCH")) return [];
      throw error;
    }
  });
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isErrno(error, "ENOENT", "ESRCH")) return [];
    throw error;
  }
}

function lines(text: string): Line[] {
  return text.split("\n").flatMap((line) => {
    try {
      return [asObject(JSON.parse(line))];
    } catch (error) {
      if (error instanceof SyntaxError) return []; // cut off by a kill
      throw error;
    }
  });
}

function asObject(value: unknown): Line {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
