import { own } from "../protocol/own.ts";
import type { Adapter } from "./adapter.ts";
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { cursor } from "./cursor.ts";
import { custom } from "./custom.ts";
import { opencode } from "./opencode.ts";
import { pi } from "./pi.ts";
import { copilot } from "./copilot.ts";
import { qwen } from "./qwen.ts";
import { scripted } from "./scripted.ts";

export type { Adapter } from "./adapter.ts";
export { EVENT_PREFIX } from "./hook-script.ts";

const ADAPTERS: readonly Adapter[] = [claude, codex, copilot, opencode, pi, qwen, cursor, custom, scripted];

const BY_NAME: Readonly<Record<string, Adapter>> = Object.fromEntries(ADAPTERS.map((each) => [each.vendor, each]));

export function adapterOf(vendor: string): Adapter | null {
  return own(BY_NAME, vendor) ?? null;
}

export function adapterNames(): string[] {
  return ADAPTERS.map(({ vendor }) => vendor);
}

export function leakedVariables(): string[] {
  return ADAPTERS.flatMap(({ leaks }) => leaks);
}
