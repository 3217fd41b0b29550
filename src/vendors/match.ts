import { basename } from "node:path";
import { VENDOR_PROGRAMS } from "./programs.ts";
import { scriptedProgram } from "./scripted/program.ts";
import type { VendorProgram } from "./shared/program.ts";

export interface Match {
  vendor: string;
  /** The word of the command after which the vendor's arguments follow: its program, or a `--` behind it. */
  programAt: number;
}

/** Programs that start another one, which follows their own options. */
const WRAPPERS: ReadonlySet<string> = new Set("env nice nohup setsid caffeinate command npx bunx pnpx".split(" "));
/** Package managers, each with the subcommands that run a program. */
const RUNNERS: Readonly<Record<string, readonly string[]>> = {
  npm: ["exec", "x"],
  pnpm: ["exec", "dlx"],
  yarn: ["exec", "dlx"],
  bun: ["x", "run"],
};
/** Subcommands with which any other tool runs the program behind a `--`: `mise exec -- claude`, `op run -- claude`. */
const RUNS: ReadonlySet<string> = new Set(["exec", "x", "run"]);
const WRAPPER_VALUED: ReadonlySet<string> = new Set("-u -C -n -p --package --unset --chdir --adjustment".split(" "));

/**
 * Tells which vendor's program a command starts: by its program's name or path, through `env X=1`, `npx` and the like,
 * or as a link to it (`file` is where the first word leads to). Null for any other program.
 */
export function matchCommand(command: readonly string[], file: string | null): Match | null {
  return matchFrom(command, 0) ?? (file === null ? null : matched(programOfFile(file), 0));
}

function matchFrom(command: readonly string[], from: number): Match | null {
  const at = wrappedAt(command, from);
  const found = matchAt(command, at);
  if (found) return basename(command[from] ?? "") === "npm" ? behindDashes(command, found) : found;
  const dashes = command.indexOf("--", at);
  const runs = dashes > at && command.slice(at + 1, dashes).some((word) => RUNS.has(word));
  return runs ? matchFrom(command, dashes + 1) : null;
}

/** npm takes options before a `--` for its own: without a `--` there is no place for the program's. */
function behindDashes(command: readonly string[], found: Match): Match | null {
  if (command[found.programAt - 1] === "--") return found;
  return command[found.programAt + 1] === "--" ? { ...found, programAt: found.programAt + 1 } : null;
}

function matchAt(command: readonly string[], at: number): Match | null {
  const word = command[at] ?? "";
  const interpreted = isInterpreter(basename(word)) ? programOfFile(command[at + 1] ?? "") : null;
  return matched(programOf(word), at) ?? matched(interpreted, at + 1);
}

function matched(program: VendorProgram | null, programAt: number): Match | null {
  return program === null ? null : { vendor: program.vendor, programAt };
}

/** Finds the first word that is neither a wrapper nor something a wrapper takes. */
function wrappedAt(command: readonly string[], from: number): number {
  let at = from;
  for (;;) {
    const name = basename(command[at] ?? "");
    const runs = Object.hasOwn(RUNNERS, name) && RUNNERS[name]?.includes(command[at + 1] ?? "");
    if (!WRAPPERS.has(name) && !runs) return at;
    at += runs ? 2 : 1;
    while (isWrapperWord(command[at])) at += WRAPPER_VALUED.has(command[at] ?? "") ? 2 : 1;
  }
}

function isWrapperWord(word: string | undefined): boolean {
  return word !== undefined && (word.startsWith("-") || /^[A-Za-z_][A-Za-z0-9_]*=/.test(word));
}

function isInterpreter(name: string): boolean {
  return /^(node|bun|deno|sh|bash|dash|zsh)$/.test(name);
}

/**
 * Knows a program by its name (`claude`, `/opt/claude.exe`), or by the package `npx` is told (`@openai/codex@0.166.0`).
 */
function programOf(word: string): VendorProgram | null {
  const name = basename(word).replace(/\.exe$/, "");
  const packageName = /^(@?[^@]+)(@.*)?$/.exec(word)?.[1];
  const known = VENDOR_PROGRAMS.find((each) => each.program === name || each.package === packageName);
  return known ?? (name === "perdure-scripted" || name === "perdure-scripted.js" ? scriptedProgram : null);
}

/**
 * Knows a file by its name without an ending, by the package its path leads through, or as a version of a native
 * install.
 */
function programOfFile(file: string): VendorProgram | null {
  const name = basename(file).replace(/\.(exe|[cm]?js|sh)$/, "");
  const inside = VENDOR_PROGRAMS.find(
    (each) =>
      (each.package !== null && file.includes(`/${each.package}/`)) || file.includes(`/${each.program}/versions/`),
  );
  return VENDOR_PROGRAMS.find(({ program }) => program === name) ?? inside ?? programOf(file);
}
