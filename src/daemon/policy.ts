import type { CallName } from "../protocol/calls.ts";
import { isPerdureError } from "../protocol/errors.ts";
import { readConfigAt } from "../project/config.ts";
import { isErrno } from "../state/files.ts";

/**
 * What `[policy] agents_may` calls each of the calls it can take away from a project's agents. Acknowledging has no word of its
 * own: it only concerns what was handed out, by `receive` or as the answer to an `ask`.
 */
const WORDS: Readonly<Partial<Record<CallName, string>>> = {
  send: "send",
  ask: "ask",
  reply: "reply",
  receive: "inbox",
  inbox: "inbox",
  pending: "inbox",
};

/** How long what the file says is believed: it is asked for at every message. */
const BELIEVED_MS = 1_000;

const read = new Map<string, { allowed: ReadonlySet<string> | null; untilMs: number }>();

/**
 * The word that the project's file leaves out; null when the call is allowed. A file can only take away: repositories come
 * from strangers, and what they would grant is not granted.
 */
export function forbiddenBy(root: string, call: CallName, nowMs: number): string | null {
  const word = WORDS[call];
  if (word === undefined) return null;
  const known = read.get(root);
  const rule = known && known.untilMs > nowMs ? known : { allowed: allowedIn(root), untilMs: nowMs + BELIEVED_MS };
  read.set(root, rule);
  return rule.allowed === null || rule.allowed.has(word) ? null : word;
}

function allowedIn(root: string): ReadonlySet<string> | null {
  try {
    const words = readConfigAt(root)?.policy?.agents_may;
    return words === undefined ? null : new Set(words);
  } catch (error) {
    // Whoever uses the file is told what is wrong with it; until it is right, nothing is taken away.
    if (isPerdureError(error) || isErrno(error, "ENOENT", "ENOTDIR", "EACCES")) return null;
    throw error;
  }
}
