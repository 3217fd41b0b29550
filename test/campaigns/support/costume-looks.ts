import { globSync, readdirSync, readlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { processTable } from "../../../src/runtime/process/index.ts";
import { isErrno, readIfThere } from "../../../src/state/files.ts";

// What each vendor's files say, read without the adapters: they are what is tested.

export type Vendor = "scripted" | "claude" | "codex";

export interface Look {
  vendor: Vendor;
  /** As it is called on PATH. */
  program: string;
  /** Under HOME. */
  configDir: string;
  /** The variable that moves it. */
  variable: string;
  /** Takes an id of our choice; else it makes its own, and one without a transcript cannot be asked for again. */
  takesIds: boolean;
  /** Hears of a new conversation from the vendor itself, not by looking: nothing is lost if a kill follows at once. */
  tells: boolean;
  headless(prompt: string): string[];
  present(configDir: string): { pid: number; session: string }[];
  transcript(configDir: string, id: string): string | null;
  asked(transcript: string): string[];
  /** Which conversation a command line continues, or begins under a given id. */
  continues(args: readonly string[]): string | null;
  begins(args: readonly string[]): string | null;
}

type Line = Readonly<Record<string, unknown>>;

export const LOOKS: Readonly<Record<Vendor, Look>> = {
  scripted: {
    vendor: "scripted",
    program: "perdure-scripted",
    configDir: ".local/share/perdure-scripted",
    variable: "PERDURE_SCRIPTED_HOME",
    takesIds: true,
    tells: false,
    headless: (prompt) => ["-p", prompt],
    present: (configDir) => registered(join(configDir, "live"), "session"),
    transcript: (configDir, id) => found(configDir, `sessions/${id}.jsonl`),
    asked: (transcript) => lines(transcript).flatMap(({ type, text }) => (type === "user" ? [String(text)] : [])),
    continues: (args) => after(args, "--resume"),
    begins: (args) => after(args, "--session-id"),
  },
  claude: {
    vendor: "claude",
    program: "claude",
    configDir: ".claude",
    variable: "CLAUDE_CONFIG_DIR",
    takesIds: true,
    tells: true,
    headless: (prompt) => ["-p", prompt],
    present: (configDir) => registered(join(configDir, "sessions"), "sessionId"),
    transcript: (configDir, id) => found(configDir, `projects/*/${id}.jsonl`),
    asked: (transcript) =>
      lines(transcript).flatMap(({ type, message }) => (type === "user" ? [String(inside(message).content)] : [])),
    continues: (args) => after(args, "--resume"),
    begins: (args) => after(args, "--session-id"),
  },
  codex: {
    vendor: "codex",
    program: "codex",
    configDir: ".codex",
    variable: "CODEX_HOME",
    takesIds: false,
    tells: false,
    headless: (prompt) => ["exec", prompt],
    present: locking,
    transcript: (configDir, id) => found(configDir, `sessions/*/*/*/rollout-*-${id}.jsonl`),
    asked: (transcript) =>
      lines(transcript).flatMap(({ payload }) => {
        const { role, content } = inside(payload);
        return role === "user" && Array.isArray(content) ? [String(inside(content[0]).text)] : [];
      }),
    continues: (args) => after(args, "resume"),
    begins: () => null,
  },
};

export const VENDORS: readonly Vendor[] = ["scripted", "claude", "codex"];

function after(args: readonly string[], word: string): string | null {
  const at = args.indexOf(word);
  return at < 0 ? null : (args[at + 1] ?? null);
}

function found(configDir: string, pattern: string): string | null {
  const [file] = globSync(pattern, { cwd: configDir });
  return file === undefined ? null : join(configDir, file);
}

/** The entries of processes that live; those of killed ones stay behind. */
function registered(folder: string, field: string): { pid: number; session: string }[] {
  const table = processTable();
  return entries(folder).flatMap((file) => {
    const entry = lines(readIfThere(join(folder, file)) ?? "")[0] ?? {};
    const pid = Number(basename(file, ".json"));
    const lives = table.look(pid)?.startedAt === entry.procStart;
    return lives ? [{ pid, session: String(entry[field]) }] : [];
  });
}

/** Whoever has a lock file open and is no flock(1) on its way. The newest is the one it writes. */
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
      return [inside(JSON.parse(line))];
    } catch (error) {
      if (error instanceof SyntaxError) return []; // cut off by a kill
      throw error;
    }
  });
}

function inside(value: unknown): Line {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
