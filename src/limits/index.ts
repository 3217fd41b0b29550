// Every bound of the product, in one place, each with its reason. Units come last in a name.

/** Longest worker or project name: four of them and an epoch still fit a file name of 255 bytes. */
export const NAME_CHARS_MAX = 64;

/** Longest host part of a run id (a DNS label). */
export const HOST_CHARS_MAX = 63;

/** A frame larger than this is refused before it is buffered. One message with attachments fits. */
export const FRAME_BYTES_MAX = 1024 * 1024;

/** Requests of one connection answered at once; beyond it the socket is simply not read (back-pressure). */
export const CALLS_IN_FLIGHT_MAX = 64;

/** Unsent bytes beyond which a connection's streams wait and its requests are not read: hundreds that never read cost little. */
export const SOCKET_BUFFER_BYTES_MAX = 16 * 1024;

/** A connection that has not said hello by then is closed: a stranger cannot hold a slot for nothing. */
export const HELLO_WAIT_MS = 5_000;

/** Connections at once. A fleet has tens; beyond this new ones get "busy", retryable. */
export const CONNECTIONS_MAX = 1_000;

/** Changes that share one commit: enough for its sync to cost each of them little, few enough for them to be young garbage after it. */
export const COMMIT_CHANGES_MAX = 256;

/** The kernel takes 107 bytes for a unix socket's path; tools that join paths need a margin. */
export const SOCKET_PATH_BYTES_MAX = 100;

/** How long a client waits for a daemon it started. A cold start takes 0.1 s; a busy laptop takes longer. */
export const DAEMON_START_WAIT_MS = 10_000;

/** How long a client waits for a socket that accepts but does not answer. */
export const ANSWER_WAIT_MS = 30_000;

/** For calls that read or copy the whole store. */
export const LONG_WAIT_MS = 10 * 60_000;

/** How long a daemon that leaves waits for calls under way; what it cannot finish, the next one does. */
export const DRAIN_MS_MAX = 3_000;

/** How long a starting daemon waits for the lock of one that leaves; shorter than its starter waits for it. */
export const DAEMON_LOCK_WAIT_MS = 6_000;

/** The daemon leaves when nothing needs it for so long. */
export const DAEMON_IDLE_EXIT_MS = 10 * 60_000;

/** How often live runs are looked at besides being watched: the longest a killed run can seem alive in `ls`. */
export const RUN_POLL_MS = 1_000;

/** So long after it was first seen, no other process can have the same pid and start tick any more: a tick takes 10 ms. */
export const SIGHTING_CERTAIN_MS = 500;

/** After an exit file appeared, how often its process is looked at until it is gone. */
export const RUN_SETTLE_MS = 5;
export const RUN_SETTLE_TRIES = 200;

/**
 * Between the claim and the moment the wrapper's environment shows the run, pid and start time alone are the
 * identity. A launch takes 0.05 s; a stopped laptop resumes here later, so this is generous.
 */
export const RUN_START_GRACE_MS = 60_000;

/** How long a displaced process has between TERM and KILL. Agents write their transcript in that time. */
export const TAKEOVER_TERM_WAIT_MS = 5_000;

/** How long after KILL the kernel may take before the takeover reports a time-out. */
export const TAKEOVER_KILL_WAIT_MS = 5_000;

/** How long a wrapper may take to tell and put the terminal right once its program was killed. */
export const TAKEOVER_WRAPPER_WAIT_MS = 500;

/** How often a process that is being stopped is looked at. */
export const TAKEOVER_POLL_MS = 20;

/** Commands and environments are stored with the worker; a runaway one is refused. */
export const COMMAND_BYTES_MAX = 128 * 1024;
export const ENVIRONMENT_BYTES_MAX = 256 * 1024;
/** What is said first is one argument, and the kernel takes 128 KB in one; a character has up to 3. */
export const FIRST_PROMPT_CHARS_MAX = 32 * 1024;

/** Kept history. The newest are kept; a run that still lives is never dropped. */
export const RUNS_KEPT_PER_WORKER = 500;
export const EVENTS_KEPT = 100_000;
export const RETIRED_WORKERS_KEPT_MS = 365 * 24 * 3_600_000;
export const RETIRED_WORKERS_KEPT = 10_000;
export const TOMBSTONES_KEPT_PER_PROJECT = 1_000;
export const PROJECTS_MAX = 10_000;
export const WORKERS_PER_PROJECT_MAX = 20_000;

/** Run folders (exit code, notes) of ended runs kept on disk for a look after the fact. */
export const RUN_FOLDERS_KEPT = 1_000;

/** How often old rows and folders are cleared. */
export const RETENTION_EVERY_MS = 10 * 60_000;

/** WAL pages before a checkpoint and the size the file is cut to: reused space syncs faster than growth. */
export const WAL_PAGES_MAX = 1_000;
export const WAL_BYTES_KEPT = 4 * 1024 * 1024;

/** Rows of one table kept in mind: a fleet's names fit, and with them what each was started with. */
export const ROWS_IN_MIND_MAX = 200;

/** The daemon's log is cut in two at this size; one older half is kept. */
export const LOG_BYTES_MAX = 1024 * 1024;

/** Rows a listing returns at most in one answer. */
export const LIST_ROWS_MAX = 20_000;
export const HISTORY_ROWS_DEFAULT = 50;
export const EVENT_ROWS_DEFAULT = 50;

/**
 * A library claim whose connection is gone while its process lives is freed after two of these, sleep not counted: the
 * second one is for laptops that wake up to a stalled machine.
 */
export const CLIENT_ABSENCE_MS = 15_000;

/** Epochs of names that were used; the oldest beyond this are folded into one floor. */
export const EPOCHS_KEPT = 100_000;

/** Earlier runs whose context a new run is told about: after a night of crash loops the last words are still found. */
export const EARLIER_RUNS_TOLD = 50;

/** A context file that its run never archived is swept into the archive after so long. */
export const ANCHOR_SWEEP_DAYS = 7;

/** How long a library client waits before it looks for a daemon again, and how often it looks at a program it started. */
export const RECONNECT_MS = 200;
export const START_LOOK_MS = 20;

/** Context files asked about in one call. */
export const ANCHORS_PER_CALL = 500;

/** Of a transcript, read at its beginning and at its end to judge it, however long it is. A first line can be long. */
export const TRANSCRIPT_LOOK_BYTES = 256 * 1024;

/** A first line longer than this is not read as a whole, and counts as damaged where it has to be one. */
export const TRANSCRIPT_FIRST_LINE_BYTES_MAX = 16 * 1024 * 1024;

/** Of an agent's own log, searched from its end at every look for the conversation in front. A day of work is a tenth of it. */
export const AGENT_LOG_BYTES_MAX = 2 * 1024 * 1024;

/** How soon a run that has not yet shown its conversation is looked at first; then less and less often. */
export const PROOF_LOOK_MS = 50;

/** After something changed where a vendor's processes leave their signs: several changes are one look. */
export const SIGN_SETTLE_MS = 1;

/** A title is drawn a moment after the program has told the same itself. Of a screen, its last lines: above is conversation. */
export const TITLE_SETTLE_MS = 1_000;
export const SCREEN_LINES = 14;

/** How long a run that has not yet shown its conversation may be seen in another one before that is held against it. */
export const MISMATCH_CONFIRM_MS = 2_000;

/** A transcript that nobody told the place of is searched for on disk: at first every few seconds, then so seldom. */
export const TRANSCRIPT_SEARCH_MS_MAX = 60_000;

/** How often it is looked whether a stranger has opened a worker's conversation: flagged within 5 s. */
export const STRANGER_LOOK_MS = 2_000;

/** For those looks one list of a vendor's live processes serves all workers: fifty would else read fifty entries each. */
export const STRANGER_LIST_MS = 2_000;

/** An agent that waits for somebody is looked at so seldom, where its folder is watched: a change there is told at once. */
export const QUIET_LOOK_MS = 5_000;

/** How long a vendor may take to open a conversation of its own before the start is given up: a cold one on a busy laptop. */
export const MINT_WAIT_MS = 60_000;

/** A child that was killed is gone in milliseconds; longer, and a process outside of its group keeps one of its pipes. */
export const CHILD_END_WAIT_MS = 2_000;

/** Conversations of one worker listed, and kept, beyond the one it is in. */
export const SESSIONS_KEPT_PER_WORKER = 200;

/** What a hook may be told in one event; a longer one is read no further. */
export const HOOK_EVENT_BYTES_MAX = 4 * 1024 * 1024;

/** How long a vendor's program may take to answer a question about its conversations, and how much it may say. */
export const ASK_PROGRAM_MS = 30_000;
export const ASK_PROGRAM_BYTES_MAX = 256 * 1024 * 1024;

/** Conversations of one vendor that a listing looks into, newest first. */
export const FOUND_PER_VENDOR = 50;

/** Of what was said last, shown in a listing. */
export const LAST_WORDS_CHARS_MAX = 200;

/** Saved sessions of one project. */
export const SAVED_PER_PROJECT_MAX = 1_000;

/** A vendor's own clean-up is warned of so long before. */
export const SWEEP_WARNING_DAYS = 7;

/** One message; with its frame it is far below what a connection takes. Longer texts are attached. */
export const MESSAGE_BYTES_MAX = 256 * 1024;

/** On its way to one worker at most: beyond it senders are told that the box is full. */
export const BOX_MESSAGES_MAX = 100_000;
export const BOX_BYTES_MAX = 256 * 1024 * 1024;

/** Recipients of one call. */
export const RECIPIENTS_MAX = 1_000;

/** What one worker may send at once, and then each second: an agent in a loop is slowed down, a fleet is not. */
export const SENDER_BURST = 2_000;
export const SENDER_PER_SECOND = 500;

/** How long an offer is somebody's before it is offered again. */
export const OFFER_VISIBLE_MS = 60_000;

/** Offers of one message before it is given up as dead: whoever takes it dies of it. */
export const OFFERS_MAX = 100;

/** Messages handed out in one call. */
export const OFFERS_PER_CALL = 100;

/** The same in bytes, as they travel: with room for the frame around them. One message alone is handed out whatever its length. */
export const OFFER_BYTES_PER_CALL = FRAME_BYTES_MAX - 64 * 1024;
/** Messages a reader can say it has in hand; more would not fit a frame. */
export const IN_HAND_MAX = 5_000;

/** Longest life a message can be given. */
export const TTL_MS_MAX = 365 * 24 * 3_600_000;

/** How long settled mail is kept, and how much of it: read, answered, expired, cancelled, superseded, dead. */
export const SETTLED_MAIL_KEPT_MS = 14 * 24 * 3_600_000;
export const SETTLED_MAIL_KEPT = 200_000;

/** Files sent along with a message, each, and how many. */
export const ATTACHMENT_BYTES_MAX = 16 * 1024 * 1024;
export const ATTACHMENTS_MAX = 16;

/** Copies that no message names are removed after so long. */
export const ATTACHMENT_SWEEP_MS = 3_600_000;

/** How often expired mail and offers that took too long are looked for. */
export const MAIL_SWEEP_MS = 1_000;

/** How long `ask` waits unless it is told. */
export const ASK_WAIT_MS = 10 * 60_000;

/** How soon a program's own server is tried again, and how long one question to it may take. */
export const LISTEN_RETRY_MS = 250;
export const LISTEN_ANSWER_MS = 5_000;

export * from "./custody.ts";
export * from "./fleet.ts";
export * from "./tmux.ts";
