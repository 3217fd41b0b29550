import { POLICY_CACHE_MS } from "../../limits/index.ts";
import type { PolicyWord } from "../../protocol/calls/entry.ts";
import { isPerdureError } from "../../protocol/errors.ts";
import { readSettingsAt } from "../../project/config/read.ts";
import { isErrno } from "../../state/files.ts";

type Allowed = ReadonlySet<string> | "all";

const cached = new Map<string, { allowed: Allowed; untilMs: number }>();

/**
 * Whether the project's `[policy] agents_may` lists the word. A file can only take away: repositories come from strangers, and
 * what they would grant is not granted.
 */
export function isAllowed(root: string, word: PolicyWord, nowMs: number): boolean {
  const known = cached.get(root);
  // A file with a mistake takes away what it took away before.
  const allowed = (): Allowed => allowedIn(root) ?? known?.allowed ?? "all";
  const rule = known && known.untilMs > nowMs ? known : { allowed: allowed(), untilMs: nowMs + POLICY_CACHE_MS };
  cached.set(root, rule);
  return rule.allowed === "all" || rule.allowed.has(word);
}

/** Null for a file that cannot be read: a command that uses the file says what is wrong with it. */
function allowedIn(root: string): Allowed | null {
  try {
    const words = readSettingsAt(root)?.policy?.agents_may;
    return words === undefined ? "all" : new Set(words);
  } catch (error) {
    if (isPerdureError(error) || isErrno(error, "ENOENT", "ENOTDIR", "EACCES")) return null;
    throw error;
  }
}
