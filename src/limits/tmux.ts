import { MIB, SECOND_MS } from "./units.ts";

// The bounds of tmux, its panes and what they show.

/** The oldest tmux that can do what is asked of it: client flags and subscriptions came with 3.2. */
export const TMUX_VERSION_MIN = "3.2";

/** A tmux that says nothing for so long while it owes an answer is given up: whoever asked is told to try again. */
export const TMUX_ANSWER_MS = 10 * SECOND_MS;

/** How soon a lost control client is replaced, so that ends and titles are seen again. */
export const TMUX_RECONNECT_MS = 200;

/** Between two looks at a server that is ending; it takes a few milliseconds, or as long as a client does not let go. */
export const TMUX_LEAVING_MS = 20;

/** Lines of a pane that can be scrolled back to, and captured at most. An agent's screen says the rest in its transcript. */
export const PANE_HISTORY_LINES = 10_000;

/** Characters of a captured pane, the newest: a line can be as wide as a program likes. */
export const CAPTURE_CHARS_MAX = 4 * 1024 * 1024;

/** The size of a pane before anybody looks at it: agents draw for a laptop's terminal, not for 80 by 24. */
export const PANE_COLUMNS = 200;
export const PANE_ROWS = 50;

/** Workers of one group in one window: more are too small to read, and get another. */
export const PANES_PER_WINDOW_MAX = 9;

/** Characters of a title that a program gives its pane; it may be a megabyte. */
export const PANE_TITLE_CHARS_MAX = 256;

/** The command line of one start: tmux takes more, the kernel takes 128 KiB for one argument. */
export const PANE_COMMAND_BYTES_MAX = MIB;

/** How often a start looks for a place in tmux: somebody at the keyboard is not so fast as to take it each time. */
export const PANE_PLACE_TRIES = 3;

/** Lines at the end of a pane in which a shell says that its program was suspended. */
export const SUSPENDED_NOTICE_LINES = 8;

/** Lines of what a pane shows and has shown that `logs` takes at most, and that are kept after its run has ended. */
export const SCREEN_LINES_MAX = 5_000;
export const SCREEN_KEPT_LINES = 500;

/** Lines captured to see what is in front of somebody: what has scrolled away is not. */
export const CAPTURE_LINES = 60;

/** Looks that are not urgent wait for the next multiple of this, and so for each other. */
export const LOOKS_TOGETHER_MS = 500;

/** How often the screens of agents are looked at that tell nothing by themselves; those of the others every so many times. */
export const PANE_LOOK_MS = SECOND_MS;
export const PANE_LOOKS_SELDOM = 10;
