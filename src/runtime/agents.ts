import { basename } from "node:path";
import { VENDOR_PROGRAMS } from "../vendors/programs.ts";

/** The vendor whose program this command line runs, directly or through an interpreter; null for anything else. */
export function agentVendor(argv: readonly string[]): string | null {
  const words = argv.slice(0, 3).filter((word) => !word.startsWith("-"));
  const names = words.map((word) => basename(word).replace(/\.(exe|[cm]?js)$/, ""));
  const found = VENDOR_PROGRAMS.find(
    ({ program }) => names[0] === program || (isInterpreter(names[0]) && names[1] === program),
  );
  return found?.vendor ?? null;
}

function isInterpreter(name: string | undefined): boolean {
  return name !== undefined && /^(node|bun|deno|npx|bunx|sh|bash|dash|zsh|env)$/.test(name);
}
