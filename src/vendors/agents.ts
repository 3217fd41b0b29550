import { basename } from "node:path";
import { VENDOR_PROGRAMS } from "./programs.ts";
import { scriptedProgram } from "./scripted/program.ts";
import type { VendorProgram } from "./shared/program.ts";

export interface AgentProcess {
  program: VendorProgram;
  /**
   * An interpreter runs the program: it may be a loader, whose work is done by a process of the same vendor below it.
   */
  interpreted: boolean;
}

/** Tells which vendor's program a command line runs, directly or through an interpreter; null for anything else. */
export function agentOf(argv: readonly string[]): AgentProcess | null {
  const words = argv.slice(0, 3).filter((word) => !word.startsWith("-"));
  const [first = "", second = ""] = words.map((word) => basename(word).replace(/\.(exe|[cm]?js)$/, ""));
  const interpreted = /^(node|bun|deno)$/.test(first);
  // `node -e TEXT` runs no file, whatever the text ends with.
  if (interpreted && /^-(e|p|pe|-eval|-print)$/.test(argv[1] ?? "")) return null;
  const name = interpreted ? second : first;
  const known =
    VENDOR_PROGRAMS.find(({ program }) => program === name) ??
    (interpreted ? programOfScript(words[1] ?? "") : undefined);
  const program = known ?? (name === scriptedProgram.program ? scriptedProgram : null);
  return program && { program, interpreted };
}

/** Tells whether a command line is a vendor's background service, which belongs to no run whose environment it inherited. */
export function isVendorService(argv: readonly string[]): boolean {
  const [first = "", ...others] = argv;
  // A service may have its sub-command in the first word: `claude bg-spare`.
  const [program = ""] = basename(first).split(" ", 1);
  return agentOf([program, ...others])?.program.isService?.(argv) ?? false;
}

function programOfScript(file: string): VendorProgram | undefined {
  return VENDOR_PROGRAMS.find((each) => each.scripts?.some((script) => file.endsWith(`/${each.package}/${script}`)));
}
