import { isName } from "../protocol/names.ts";
import type { Environment } from "../util/environment.ts";
import { claudeProgram } from "./claude/program.ts";
import { codexProgram } from "./codex/program.ts";
import { copilotProgram } from "./copilot/program.ts";
import { cursorProgram } from "./cursor/program.ts";
import { geminiProgram } from "./gemini/program.ts";
import { opencodeProgram } from "./opencode/program.ts";
import { piProgram } from "./pi/program.ts";
import { qwenProgram } from "./qwen/program.ts";
import type { VendorProgram } from "./shared/program.ts";

/** The vendors' programs. They are apart from the adapters, because `whoami` needs them at every start. */
export const VENDOR_PROGRAMS: readonly VendorProgram[] = [
  claudeProgram,
  codexProgram,
  geminiProgram,
  copilotProgram,
  cursorProgram,
  piProgram,
  opencodeProgram,
  qwenProgram,
];

/** Returns the name that its user gave to the surrounding vendor session (rule 4 of `whoami`), if it is a legal one. */
export function sessionName(env: Environment): string | null {
  for (const program of VENDOR_PROGRAMS) {
    const name = program.sessionName?.(env) ?? null;
    if (name !== null && isName(name)) return name;
  }
  return null;
}
