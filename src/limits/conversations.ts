import { KIB, MIB, MINUTE_MS, SECOND_MS } from "./units.ts";

// The bounds of reading what vendors store and report about a conversation.

/** Bytes read at each end of a transcript to judge it, however long it is. A first line can be long. */
export const TRANSCRIPT_READ_BYTES = 256 * KIB;

/** Branches of branches that are followed to the conversation they began as; nobody makes more by hand, and files may refer in circles. */
export const BRANCH_DEPTH_MAX = 32;

/** Longest first line of a transcript that is read whole; where the first line is a header, a longer one counts as damaged. */
export const TRANSCRIPT_FIRST_LINE_BYTES_MAX = 16 * MIB;

/** Bytes at the end of an agent's own log that are searched for the current conversation. A day of work is a tenth of that. */
export const AGENT_LOG_BYTES_MAX = 2 * MIB;

/** Bytes of an agent's log that two searches share: more than one line, so that no line between them is missed. */
export const AGENT_LOG_OVERLAP_BYTES = 256;

/** How soon a run that has not yet shown its conversation is first polled; the interval then grows. */
export const PROOF_POLL_MS = 50;

/** How long a change in a folder with signs is left to settle, so that several changes cause one poll. */
export const SIGN_SETTLE_MS = 1;

/** How long a pane's title is distrusted after the program's own report, which the terminal draws a moment later; longer than TITLE_POLL_MS. */
export const TITLE_SETTLE_MS = SECOND_MS;

/** The part of a program's own words for an error that is shown and recorded: the sentence, not the answer of its provider. */
export const WORDS_LENGTH_MAX = 300;

/** Characters of a value that is blanked in such words: a shorter one is no secret, and blanking it would blank parts of words. */
export const SECRET_CHARS_MIN = 8;

/** The end of a transcript that is searched for the last turn; a longer turn is known from before, or by the title. */
export const TURN_READ_BYTES = 256 * KIB;

/** Polls after the end of a turn at which the screen is read: the error that ended the turn is drawn a moment later. */
export const SCREENS_AFTER_TURN = 3;

/** Lines at the end of a screen that are searched for a dialog: the lines above them are conversation. */
export const DIALOG_LINES = 14;

/** How long a run that has not yet shown its own conversation may show another one before that counts as a mismatch. */
export const MISMATCH_CONFIRM_MS = 2 * SECOND_MS;

/** How long a conversation that a hook tells of may be nowhere else to be seen: the slowest vendor shows it within a second. */
export const HOOK_CONFIRM_MS = 10 * SECOND_MS;

/** Bytes on the disk that are kept for signs while it is full: some hundred. */
export const UNWRITTEN_SIGNS_BYTES = 64 * KIB;

/** Signs of one run that are kept until the disk has room: more moves than anybody makes meanwhile. */
export const UNWRITTEN_SIGNS_MAX = 16;

/** How long after a prompt it must be in the transcript. All vendors write it before the answer, the slowest after 0.3 s. */
export const PROMPT_WRITTEN_MS = 10 * SECOND_MS;

/** How soon a start that fails was refused by its program: the slowest takes a minute on a busy machine to say so. */
export const REFUSED_START_MS = 2 * MINUTE_MS;

/** How soon a transcript whose path no hook reported is searched for on disk again; the interval doubles up to the maximum. */
export const TRANSCRIPT_SEARCH_MS = 2 * SECOND_MS;
export const TRANSCRIPT_SEARCH_MS_MAX = MINUTE_MS;

/** How often a worker's conversation is checked for a foreign process that has opened it: it is flagged within 5 s. */
export const FOREIGN_OPENER_POLL_MS = 2 * SECOND_MS;

/** How long one list of a vendor's live processes serves all workers: without it, fifty workers would read fifty entries each. */
export const PROCESS_LIST_CACHE_MS = 2 * SECOND_MS;

/** How often an idle agent is polled where its folder is watched: the watch reports a change there at once. */
export const IDLE_POLL_MS = 5 * SECOND_MS;

/** Polls without news before an agent counts as idle: a transcript or a foreign opener may appear a little late. */
export const POLLS_UNTIL_IDLE = 4;

/** Conversations of one worker that are listed and kept besides its current one. */
export const SESSIONS_KEPT_PER_WORKER = 200;

/** Conversations of one vendor that a listing reads, newest first. */
export const FOUND_PER_VENDOR = 50;

/** Characters of a conversation's latest message that a listing shows. */
export const EXCERPT_CHARS_MAX = 200;

/** Marks kept of the prompts that a worker's own runs sent in a conversation, the first and the last ones: the newest may never have been written. */
export const OWN_PROMPTS_MAX = 8;

/** Largest transcript in which a split is looked for before a start, which waits for it: the largest that is copied, too. */
export const SPLIT_READ_BYTES_MAX = 512 * MIB;

/** Saved sessions of one project: far more than a person names. */
export const SAVED_PER_PROJECT_MAX = 1_000;

/** Days before a vendor's own clean-up at which `doctor` warns about it. */
export const SWEEP_WARNING_DAYS = 7;

/** Characters of what was said last that are kept, and searched for secrets before the beginning is shown: what is shown ends well before. */
export const SAID_CHARS_MAX = 1_000;

/** Bytes at both ends of a copied Pi session by which it is compared with the file: Pi only appends, so a difference in between is rare. */
export const PI_SESSION_COMPARE_BYTES = 64 * KIB;

/** Bytes in which the first line of a Pi session ends; it has an id, a folder and a few settings. */
export const PI_SESSION_HEADER_BYTES = 16 * KIB;
