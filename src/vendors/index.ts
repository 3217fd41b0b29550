import type { Environment } from "../util/environment.ts";
import { own } from "../util/own.ts";
import { nearest } from "../protocol/names.ts";
import { PerdureError } from "../protocol/errors.ts";
import type { Variables } from "../protocol/records/conversation.ts";
import type { Adapter } from "./adapter.ts";
import { claude } from "./claude/index.ts";
import { codex } from "./codex/index.ts";
import { copilot } from "./copilot/index.ts";
import { cursor } from "./cursor/index.ts";
import { custom } from "./custom/index.ts";
import { gemini } from "./gemini/index.ts";
import { opencode } from "./opencode/index.ts";
import { pi } from "./pi/index.ts";
import { qwen } from "./qwen/index.ts";
import { PRIVATE_NAMES } from "./recorded-variables.ts";
import { scripted } from "./scripted/index.ts";

export type { Adapter, ProcessView, WrittenTurn } from "./adapter.ts";
export {
  DEPOSITED_FILE,
  EVENT_PREFIX,
  MAIL_FAILED_FILE,
  MAIL_SESSION_FILE,
  MAIL_SHOWN_FILE,
  processOfEvent,
  STATUS_LINE_FILE,
  TAKEN_PREFIX,
  WAITING_MAIL,
} from "./shared/hook-script.ts";

export const ADAPTERS: readonly Adapter[] = [
  claude,
  codex,
  gemini,
  copilot,
  opencode,
  pi,
  qwen,
  cursor,
  custom,
  scripted,
];

const BY_NAME: Readonly<Record<string, Adapter>> = Object.fromEntries(ADAPTERS.map((each) => [each.vendor, each]));

/** The adapter of a vendor; null for a name that is no vendor's. */
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

/** Every vendor that has an adapter, the most used first. */
export function adapterNames(): string[] {
  return ADAPTERS.map(({ vendor }) => vendor);
}

/**
 * The changes to an environment by which a worker inherits nothing that is private to the agent that started it: a worker of one
 * vendor may be started from inside another one's.
 */
export function withoutPrivateEnv(env: Environment): Variables {
  const unset = PRIVATE_NAMES.map((name) => [name, null] as const);
  const restored = ADAPTERS.map(({ launch }) => launch.restoredEnv?.(env) ?? {});
  return Object.assign(Object.fromEntries(unset), ...restored) as Variables;
}
