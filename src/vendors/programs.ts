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
import { scriptedProgram } from "./scripted/program.ts";
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

/** The vendors whose programs were seen to work here; our own scripted agent is not among them. */
export function provedVendors(): string[] {
  return VENDOR_PROGRAMS.filter(({ unproved }) => unproved === undefined).map(({ vendor }) => vendor);
}

/** Every vendor that can be named, a custom program's among them. */
export function vendorNames(): string[] {
  return [...VENDOR_PROGRAMS.map(({ vendor }) => vendor), "custom", scriptedProgram.vendor];
}

/** Returns the name that the user gave to the surrounding conversation (rule 4 of `whoami`), if it is a legal one. */
export function surroundingConversationName(env: Environment): string | null {
  for (const program of VENDOR_PROGRAMS) {
    const name = program.conversationName?.(env) ?? null;
    if (name !== null && isName(name)) return name;
  }
  return null;
}
