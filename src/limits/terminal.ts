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
/** Columns of a table that are left for what a worker is doing, before other columns are left out for it. */
export const DOING_COLUMNS_MIN = 24;

/** Columns of a branch or a folder in a table: the longest that people give them, and not their whole path. */
export const PLACE_COLUMNS_MAX = 28;

/** Columns of a terminal below which a state is shown by its sign alone. */
export const STATE_COLUMNS_MIN = 44;
export const SIGN_COLUMNS_MIN = 10;

/** Rows of a terminal below which a list has no heading and no empty lines. */
export const ROOMY_ROWS_MIN = 10;

/** Lines of a worker's terminal that the list of workers shows when it is asked for them: more than most terminals have. */
export const PEEK_LINES = 200;

/** How often `adopt --live` looks whether a process has ended, and after how long it asks the daemon again all the same. */
export const PROCESS_END_POLL_MS = 250;
export const ADOPT_RETRY_MS = 10 * SECOND_MS;

/** How long `up` looks, at a terminal, whether what it has started stays up, and how often: a program with a wrong option ends in half a second. */
export const STAYS_UP_LOOK_MS = 1_200;
export const STAYS_UP_POLL_MS = 200;
