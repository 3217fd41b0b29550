import { basename } from "node:path";
import { SCRIPTED_PROGRAM, VENDOR_PROGRAMS, type VendorProgram } from "./programs.ts";

export interface Match {
  vendor: string;
  /** Which word of the command is the vendor's program; its arguments follow. */
  programAt: number;
}

/** Programs that start another one, given after their own options. */
const WRAPPERS: ReadonlySet<string> = new Set("env nice nohup setsid caffeinate command npx bunx pnpx".split(" "));
/** Package managers: the subcommand that runs a program. */
const RUNNERS: Readonly<Record<string, readonly string[]>> = {
  npm: ["exec", "x"],
  pnpm: ["exec", "dlx"],
  yarn: ["exec", "dlx"],
  bun: ["x", "run"],
};
const WRAPPER_VALUED: ReadonlySet<string> = new Set("-u -C -n -p --package --unset --chdir --adjustment".split(" "));

/**
 * The vendor a command starts: by its program's name or path, through `env X=1`, `npx` and the like, behind a `--`
 * (`mise exec -- claude`), or as a link to it (`file` is where the first word leads to). Null for any other program.
 */
export function matchCommand(command: readonly string[], file: string | null): Match | null {
  const dashes = command.indexOf("--");
  return (
    matchAt(command, wrappedAt(command)) ??
    (dashes > 0 ? matchAt(command, dashes + 1) : null) ??
    (file === null ? null : matched(programOfFile(file), 0))
  );
}

function matchAt(command: readonly string[], at: number): Match | null {
  const word = command[at] ?? "";
  const interpreted = isInterpreter(basename(word)) ? programOfFile(command[at + 1] ?? "") : null;
  return matched(programOf(word), at) ?? matched(interpreted, at + 1);
}

function matched(program: VendorProgram | null, programAt: number): Match | null {
  return program === null ? null : { vendor: program.vendor, programAt };
}

/** The first word that is neither a wrapper nor something a wrapper takes. */
function wrappedAt(command: readonly string[]): number {
  let at = 0;
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

/** By its name (`claude`, `/opt/claude.exe`), or by the package `npx` is told (`@openai/codex@0.166.0`). */
function programOf(word: string): VendorProgram | null {
  const name = basename(word).replace(/\.exe$/, "");
  const packageName = /^(@?[^@]+)(@.*)?$/.exec(word)?.[1];
  const known = VENDOR_PROGRAMS.find((each) => each.program === name || each.package === packageName);
  return known ?? (name === "perdure-scripted" || name === "perdure-scripted.js" ? SCRIPTED_PROGRAM : null);
}

/** By its name without an ending, or by the package its path leads through. */
function programOfFile(file: string): VendorProgram | null {
  const name = basename(file).replace(/\.(exe|[cm]?js|sh)$/, "");
  const inPackage = VENDOR_PROGRAMS.find((each) => each.package !== null && file.includes(`/${each.package}/`));
  return VENDOR_PROGRAMS.find(({ program }) => program === name) ?? inPackage ?? programOf(file);
}
