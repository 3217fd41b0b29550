import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Tricks of a program in front of a vendor's own: users' wrappers and aliases do the same. */
export const TRICKS = [
  "pass on",
  "add newest",
  "add other",
  "swap",
  "drop",
  "again",
  "unknown",
  "hide",
  "print help",
  "sleep",
  "exit 0",
  "exit 1",
] as const;

export type Trick = (typeof TRICKS)[number];

export interface FrontFacts {
  /** The vendor's program by its name, and where it really is. */
  program: string;
  real: string;
  /** The words that take the newest conversation of the folder. */
  newest: readonly string[];
  /** The words that resume the other conversation, and its id, or its file where the program is given files. */
  other: { words: readonly string[]; id: string; file: string | null };
  /** The transcript of the worker's conversation, for the trick that hides it; null where there is no such file. */
  transcript: string | null;
}

/**
 * Puts a program in front of the vendor's, in a folder of its own, and returns the PATH that leads to it. Starts that name
 * no conversation, such as those that make an id or print a conversation, are passed on as they are.
 */
export function putInFront(folder: string, facts: FrontFacts, trick: Trick, path: string): string {
  mkdirSync(folder, { recursive: true });
  const text = `#!${process.execPath}\n(${program.toString()})(${JSON.stringify({ ...facts, trick })});\n`;
  writeFileSync(join(folder, facts.program), text, { mode: 0o755 });
  return `${folder}:${path}`;
}

/** Runs as a script of its own: nothing from outside of it is there. */
function program({ trick, real, newest, other, transcript }: FrontFacts & { trick: Trick }): void {
  const { spawnSync } = process.getBuiltinModule("node:child_process");
  const { renameSync } = process.getBuiltinModule("node:fs");
  const args = process.argv.slice(2);
  const become = (words: readonly string[]): void => process.execve?.(real, [real, ...words], process.env);
  const id = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|ses_[A-Za-z0-9]{10,}/;
  const named =
    /^(?:--resume=)?(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|ses_[A-Za-z0-9]{10,}|\/.*_[0-9a-f-]{36}\.jsonl)$/;
  const at = args.findIndex((word) => named.test(word));
  if (at < 0 || ["app-server", "serve", "export", "import", "session"].includes(args[0] ?? "")) return become(args);
  const word = args[at] ?? "";
  const from = word.startsWith("--resume=") ? at : at - 1;
  const otherWord = word.startsWith("/") ? (other.file ?? other.id) : word.replace(id, other.id);
  const unknown = word.startsWith("/") ? `${word}.unknown` : word.replace(/[0-9a-zA-Z]{4}$/, "0000");
  if (trick === "add newest") return become(args.toSpliced(at + 1, 0, ...newest));
  if (trick === "add other") return become(args.toSpliced(at + 1, 0, ...other.words));
  if (trick === "swap") return become(args.with(at, otherWord));
  if (trick === "again") spawnSync(real, args, { stdio: "inherit" });
  if (trick === "drop" || trick === "again") return become(args.toSpliced(from, at - from + 1));
  if (trick === "unknown") return become(args.with(at, unknown));
  if (trick === "print help") return become(["--help"]);
  if (trick === "sleep") spawnSync("sleep", ["1"]);
  if (trick === "sleep" || trick === "exit 0") process.exit(0);
  if (trick === "exit 1") process.exit(1);
  if (trick !== "hide" || transcript === null) return become(args);
  renameSync(transcript, `${transcript}.away`);
  const script = '"$@"; ended=$?; mv "$HIDDEN.away" "$HIDDEN"; exit $ended';
  const env = { ...process.env, HIDDEN: transcript };
  process.execve?.("/bin/sh", ["sh", "-c", script, "sh", real, ...args], env);
}
