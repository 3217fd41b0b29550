import { KIB, MIB, SECOND_MS } from "./units.ts";

// The bounds of the tools that agents call, and of the bridge beside each agent.

/** How long the tool `ask` waits for a reply: the first vendors give a call up after 60 s, and then nobody gets the reply. */
export const ASK_TOOL_WAIT_MS = 45 * SECOND_MS;

/** How often a waiting tool says so: three vendors give up a call that is silent for a minute, and people look at it. */
export const TOOL_PROGRESS_MS = 5 * SECOND_MS;

/** Messages that the tool `inbox` hands out in one call; the tool says how many more wait. */
export const INBOX_TOOL_MESSAGES = 20;

/**
 * Bytes of mail, as JSON, in one answer of a tool. Of an answer that is longer than about 11 KB codex leaves out the middle; copilot shows
 * the first words of one beyond 20 KB, claude of one beyond 30 KB, and both put the rest into a file.
 */
export const TOOL_MAIL_BYTES_MAX = 8 * KIB;

/** A line of a bridge larger than this is answered with a refusal; a call with the longest message fits twice. */
export const BRIDGE_LINE_BYTES_MAX = MIB;

/** Bytes of the beginning and of the end of such a line that are kept: in one of the two is the id that the refusal answers. */
export const BRIDGE_LINE_KEPT_BYTES = KIB;

/** Unanswered bytes beyond which a bridge reads no more of its agent's calls. */
export const BRIDGE_PENDING_BYTES_MAX = 8 * MIB;

/** How long a bridge waits before it tries to reach a daemon again: at first, and at most. */
export const BRIDGE_RETRY_MS = SECOND_MS / 5;
export const BRIDGE_RETRY_MS_MAX = 10 * SECOND_MS;
