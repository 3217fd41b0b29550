import { KIB, MIB, MINUTE_MS, SECOND_MS } from "./units.ts";

// The bounds of reading what vendors keep and tell of a conversation.

/** Bytes read at a transcript's beginning and at its end to judge it, however long it is. A first line can be long. */
export const TRANSCRIPT_LOOK_BYTES = 256 * KIB;

/** A first line longer than this is not read as a whole, and counts as damaged where it has to be one. */
export const TRANSCRIPT_FIRST_LINE_BYTES_MAX = 16 * MIB;

/** The end of an agent's own log that each look searches for the conversation in front. A day of work is a tenth of it. */
export const AGENT_LOG_BYTES_MAX = 2 * MIB;

/** Bytes of an agent's log that two searches share: more than one line, so that none is missed between them. */
export const AGENT_LOG_OVERLAP_BYTES = 256;

/** How soon a run that has not yet shown its conversation is looked at first; then less and less often. */
export const PROOF_LOOK_MS = 50;

/** After a change where a vendor's processes leave their signs, so long is waited: several changes are one look. */
export const SIGN_SETTLE_MS = 1;

/** A pane's title is drawn a moment after the program has told the same itself, and is believed only after that. */
export const TITLE_SETTLE_MS = SECOND_MS;

/** The last lines of a screen, in which a dialog is looked for: above them is conversation. */
export const DIALOG_LINES = 14;

/** How long a run that has not yet shown its conversation may be seen in another one before that is held against it. */
export const MISMATCH_CONFIRM_MS = 2 * SECOND_MS;

/** A transcript whose place nobody told is searched for on disk: at first every few seconds, in the end so seldom. */
export const TRANSCRIPT_SEARCH_MS_MAX = MINUTE_MS;

/** How often it is looked whether a stranger has opened a worker's conversation: flagged within 5 s. */
export const STRANGER_LOOK_MS = 2 * SECOND_MS;

/** How long one list of a vendor's live processes serves all workers that look for strangers: fifty would else read fifty entries each. */
export const STRANGER_LIST_MS = 2 * SECOND_MS;

/** How seldom an agent that waits for somebody is looked at, where its folder is watched: a change there is told at once. */
export const QUIET_LOOK_MS = 5 * SECOND_MS;

/** Looks without news before an agent is looked at seldom: a transcript or a stranger may come a little after what they belong to. */
export const CALM_LOOKS = 4;

/** Conversations of one worker that are listed, and kept, beyond the one it is in. */
export const SESSIONS_KEPT_PER_WORKER = 200;

/** Conversations of one vendor that a listing looks into, newest first. */
export const FOUND_PER_VENDOR = 50;

/** Characters of what was said last that a listing shows. */
export const LAST_WORDS_CHARS_MAX = 200;

/** Saved sessions of one project: far more than a person names. */
export const SAVED_PER_PROJECT_MAX = 1_000;

/** A vendor's own clean-up is warned of so long before. */
export const SWEEP_WARNING_DAYS = 7;
