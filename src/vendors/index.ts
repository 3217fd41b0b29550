import type { Environment } from "../util/environment.ts";
import type { Variables } from "../protocol/records/conversation.ts";
import { own } from "../util/own.ts";
import type { Adapter } from "./adapter.ts";
import { claude } from "./claude/index.ts";
import { codex } from "./codex/index.ts";
import { cursor } from "./cursor/index.ts";
import { custom } from "./custom/index.ts";
import { opencode } from "./opencode/index.ts";
import { pi } from "./pi/index.ts";
import { copilot } from "./copilot/index.ts";
import { qwen } from "./qwen/index.ts";
import { gemini } from "./gemini/index.ts";
import { scripted } from "./scripted/index.ts";
import { nearest } from "../protocol/names.ts";
import { PerdureError } from "../protocol/errors.ts";

export type { Adapter, ProcessView } from "./adapter.ts";
export { EVENT_PREFIX } from "./shared/hook-script.ts";

const ADAPTERS: readonly Adapter[] = [claude, codex, gemini, copilot, opencode, pi, qwen, cursor, custom, scripted];

const BY_NAME: Readonly<Record<string, Adapter>> = Object.fromEntries(ADAPTERS.map((each) => [each.vendor, each]));

export function adapterOf(vendor: string): Adapter | null {
  return own(BY_NAME, vendor) ?? null;
}

/** The error for a vendor without an adapter. `otherwise` says how any other program runs. */
export function unknownVendor(vendor: string, otherwise = "any other program runs without --vendor"): PerdureError {
  const [near] = nearest(vendor, adapterNames());
  return new PerdureError("usage", `There is no vendor ${JSON.stringify(vendor)}.`, {
    hint: near ? `did you mean ${near}?` : `known: ${adapterNames().join(", ")}; ${otherwise}`,
  });
}

export function adapterNames(): string[] {
  return ADAPTERS.map(({ vendor }) => vendor);
}

/** What a worker must not inherit from whoever started it, of every vendor: it may be started from inside another one. */
export function withoutLeaks(env: Environment): Variables {
  const leaks = ADAPTERS.flatMap((each) => each.leaks.map((name) => [name, null] as const));
  return Object.assign(Object.fromEntries(leaks), ...ADAPTERS.map((each) => each.restored?.(env) ?? {})) as Variables;
}
