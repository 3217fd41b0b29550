import { MIB, SECOND_MS } from "./units.ts";

// The bounds of tmux, its panes and their screens.

/** The oldest supported tmux: client flags and subscriptions came with 3.2. */
export const TMUX_VERSION_MIN = "3.2";

/** How long tmux may take to answer before the call fails with a request to try again. */
export const TMUX_ANSWER_MS = 10 * SECOND_MS;

/** How soon a lost control client is replaced, so that ends and titles are reported again. */
export const TMUX_RECONNECT_MS = 200;

/** How often the connection to an exiting server is retried: it exits in milliseconds, unless a client stays connected. */
export const TMUX_EXIT_POLL_MS = 20;

/** Lines of a pane's scrollback, and the most that are captured. The transcript has the rest. */
export const PANE_HISTORY_LINES = 10_000;

/** Characters of a captured pane, the newest ones: a program may draw lines of any length. */
export const CAPTURE_CHARS_MAX = 4 * 1024 * 1024;

/** The size of a pane before a terminal attaches to it: agents draw for a laptop's terminal, not for 80 by 24. */
export const PANE_COLUMNS = 200;
export const PANE_ROWS = 50;

/** Workers of one group in one window: more panes would be too small to read, and go to another window. */
export const PANES_PER_WINDOW_MAX = 9;

/** Characters kept of a pane's title, which a program may set to a megabyte. */
export const PANE_TITLE_CHARS_MAX = 256;

/** Characters of what is said below the pane of a worker that has ended: more than a wide terminal shows. */
export const PANE_WORDS_CHARS_MAX = 300;

/** Bytes of the command line of one start: tmux accepts more, the kernel 128 KiB for one argument. */
export const PANE_COMMAND_BYTES_MAX = MIB;

/** Attempts to start a pane when its target changes between listing and start: a person cannot change it each time. */
export const PANE_TARGET_TRIES = 3;

/** Lines at the end of a pane that are searched for a shell's notice that its program was suspended. */
export const SUSPENDED_NOTICE_LINES = 8;

/** The most lines of screen and scrollback that `logs` returns, and the lines that are kept after a run has ended. */
export const SCREEN_LINES_MAX = 5_000;
export const SCREEN_KEPT_LINES = 500;

/** Lines captured to see what the screen shows now, without its scrollback. */
export const CAPTURE_LINES = 60;

/** Multiple to which polls that are not urgent are delayed, so that they run together. */
export const POLL_ALIGN_MS = 500;

/** How often the screens of agents that report nothing themselves are polled; every so many polls include all screens. */
export const PANE_POLL_MS = SECOND_MS;
export const PANE_POLLS_PER_FULL_CHECK = 10;

/**
 * How often the titles of agents at work are read, of which tmux itself reports changes about once a second: what is older than this
 * must not be taken for what the agent shows after a sign.
 */
export const TITLE_POLL_MS = 500;

/** How long after an agent's own sign its title is read so often. */
export const TITLE_POLLED_AFTER_SIGN_MS = 3 * SECOND_MS;

/** How long a tmux server that was told to end may still answer, after it has hung up on its panes. */
export const TMUX_GOING_MS = 500;
