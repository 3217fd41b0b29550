import type { Outward } from "../../protocol/records/conversation.ts";
import { textOf } from "../../util/fields.ts";
import type { BlockedKind } from "./blocked-exit.ts";

/** The kinds by which several vendors name what made a turn fail. */
const KIND_OF_ERROR: ReadonlyMap<string, BlockedKind> = new Map([
  ["authentication", "login"],
  ["authentication_failed", "login"],
  ["oauth_org_not_allowed", "login"],
  ["account_on_hold", "login"],
  ["verification_required", "login"],
  ["billing_error", "limit"],
  ["rate_limit", "limit"],
  ["quota", "limit"],
]);

const KIND_OF_STATUS: ReadonlyMap<number, BlockedKind> = new Map([
  [401, "login"],
  [403, "login"],
  [402, "limit"],
  [429, "limit"],
]);

/** The facts of a turn that failed: the vendor's name for the error, the provider's HTTP status, the program's words. */
export interface FailedTurn {
  error?: string | null;
  status?: number | null;
  /** The login or the limit that blocks the agent, where the program says it in words alone. */
  kind?: BlockedKind | null;
  words: string | null;
}

/**
 * Says how a failed turn leaves the agent. A missing login or a used-up limit blocks it; after any other failure it waits for
 * input, and saying it again may help.
 */
export function afterFailedTurn(failed: FailedTurn): Outward {
  const kind = kindOfFailure(failed);
  const words = failed.words ?? undefined;
  return kind === null ? { activity: "idle" } : { activity: "blocked", blocked: kind, words };
}

/** Returns what blocks the agent after a failed turn; null when nothing does. */
export function kindOfFailure({ error, status, kind }: Omit<FailedTurn, "words">): BlockedKind | null {
  return kind ?? KIND_OF_ERROR.get(error ?? "") ?? KIND_OF_STATUS.get(status ?? 0) ?? null;
}

/** Reads the event of a StopFailure hook, which claude and its followers send when an API error ends a turn. */
export function failedTurnOf(event: Readonly<Record<string, unknown>>): Outward {
  const words = textOf(event.last_assistant_message) ?? textOf(event.error_details);
  return afterFailedTurn({ error: textOf(event.error), words });
}
