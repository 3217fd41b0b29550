import { MIB, SECOND_MS } from "./units.ts";

// The bounds of what commands show and how often they poll.

/** How often `ls --watch` redraws without a change, and how long it collects changes into one redraw. */
export const WATCH_POLL_MS = SECOND_MS;
export const WATCH_SETTLE_MS = 40;

/** Unread messages that the bare `perdure` counts: they are fetched with their texts, so it then says "or more". */
export const UNREAD_COUNT_MAX = 20;

/** Lines that `logs` shows by default. */
export const LOG_LINES_DEFAULT = 200;

/** How often `logs -f` reads the terminal, which is polled because its content changes as a whole. */
export const LOG_FOLLOW_MS = 500;

/** Lines of a first prompt that are shown when a person is asked to trust a fleet file. */
export const TRUST_PROMPT_LINES = 10;

/** How long a takeover may take before it prints what it waits for. */
export const SLOW_NOTICE_MS = 400;

/** How long the demo waits for each step: a start takes seconds on a busy laptop, and a demo that hangs explains nothing. */
export const DEMO_WAIT_MS = 20 * SECOND_MS;

/** The width of every page of help: that of a terminal nobody has made wider. */
export const HELP_COLUMNS = 80;

/** Bytes of its own command line that a verb looks at: the kernel takes no longer one under its usual limits. */
export const ARGUMENTS_BYTES_MAX = 4 * MIB;
