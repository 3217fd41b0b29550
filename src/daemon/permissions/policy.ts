import { POLICY_CACHE_MS } from "../../limits/index.ts";
import type { PolicyWord } from "../../protocol/calls/entry.ts";
import { isPerdureError } from "../../protocol/errors.ts";
import { readSettingsAt } from "../../project/config/read.ts";
import { isErrno } from "../../state/files.ts";

type AllowedWords = ReadonlySet<string> | "all";

/** The `[policy]` tables of the projects, each cached for a moment. */
export class AgentPolicy {
  readonly #cache = new Map<string, { allowed: AllowedWords; untilMs: number }>();

  /**
   * Tells whether the project's `[policy] agents_may` lists the word. The file can only take permissions away: repositories
   * come from strangers, and must not grant anything.
   */
  isAllowed(root: string, word: PolicyWord, nowMs: number): boolean {
    const cached = this.#cache.get(root);
    // While the file has a mistake, the permissions that it took away before stay away.
    const read = (): AllowedWords => allowedIn(root) ?? cached?.allowed ?? "all";
    const rule = cached && cached.untilMs > nowMs ? cached : { allowed: read(), untilMs: nowMs + POLICY_CACHE_MS };
    this.#cache.set(root, rule);
    return rule.allowed === "all" || rule.allowed.has(word);
  }
}

/** Returns null for a file that cannot be read: the commands that use the file say what is wrong with it. */
function allowedIn(root: string): AllowedWords | null {
  try {
    const words = readSettingsAt(root)?.policy?.agents_may;
    return words === undefined ? "all" : new Set(words);
  } catch (error) {
    if (isPerdureError(error) || isErrno(error, "ENOENT", "ENOTDIR", "EACCES")) return null;
    throw error;
  }
}
