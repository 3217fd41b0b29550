import { HOUR_MS, KIB, MIB, MINUTE_MS, SECOND_MS } from "./units.ts";

// The bounds of mail that is put before an agent's model.

/** Peers that an agent is told of by name at its start; with the rest of that text they make 120 words at most. */
export const INTRODUCED_PEERS_MAX = 6;
export const ABOUT_OWN_WORDS_MAX = 10;
export const ABOUT_PEER_WORDS_MAX = 4;

/** Bytes of a file of instructions for agents; they are read into every conversation, so real ones are far smaller. */
export const SKILL_FILE_BYTES_MAX = MIB;

/** Characters of what a fleet's file says of a worker. */
export const ABOUT_CHARS_MAX = 200;

/** Characters of the scope in which sessions of pi-intercom see each other. */
export const SCOPE_CHARS_MAX = 200;

/** Messages, and bytes of them, that go before a model in one text: what a model reads with care. The rest follows. */
export const PIECE_MESSAGES_MAX = 20;
export const PIECE_BYTES_MAX = 32 * KIB;

/**
 * Bytes of mail in what one hook prints, where the vendor cuts it. Of a text of more than 10,000 characters claude tells its model 2 kB;
 * codex cuts what is said at the end of a turn there, copilot what is said behind a tool; gemini keeps the last 32,000 of a tool's result
 * with what stands behind it, and qwen's transcript does not show all of a long one. The bound is less than all of these, by the lines around the mail.
 */
export const HOOK_TEXT_BYTES_MAX = 9 * KIB;

/** The record of one piece: its mark and the ids of its messages, with room. */
export const PIECE_FILE_BYTES_MAX = 16 * KIB;

/** The part of a transcript that is searched for a mark at once; an agent does not write more in the time between two searches. */
export const TRANSCRIPT_MARK_BYTES = 16 * MIB;

/** How long a change to a worker's mail waits before its status line is written again: a burst is one change, and nobody reads faster. */
export const STATUS_LINE_SETTLE_MS = SECOND_MS / 5;

/** Peers and messages in a list that a person picks from inside an agent's program: such a list does not scroll. */
export const PICKED_PEERS_MAX = 15;
export const PICKED_MESSAGES_MAX = 10;

/** Lines and characters of a message that are shown there: a dialog that is taller than the terminal hides its own buttons. */
export const SHOWN_MESSAGE_LINES_MAX = 10;
export const SHOWN_MESSAGE_CHARS_MAX = 800;

/** How long a command that a person has asked for inside an agent's program may take; it may have to start a daemon. */
export const PERSON_COMMAND_MS = 15 * SECOND_MS;

/** How often a transcript is searched while a piece is on its way. */
export const PIECE_POLL_MS = SECOND_MS / 4;

/** How long an agent that is idle again may take to show a piece: then it never got it, and another channel is tried. */
export const PIECE_UNSEEN_IDLE_MS = 10 * SECOND_MS;

/** The same where the agent looks into a queue every ten seconds: twice that, and time to begin a turn. */
export const PIECE_UNSEEN_QUEUED_MS = 30 * SECOND_MS;

/** How long a busy agent may take: some show what they were told only at the end of a turn. */
export const PIECE_UNSEEN_MS = 10 * MINUTE_MS;

/** How long an agent has to be idle before it is woken, so that a person who is about to type, or a hook, comes first. */
export const WAKE_SETTLE_MS = SECOND_MS / 2;

/** How long a channel that did not get a piece across is left alone the first time, and at most. */
export const CHANNEL_REST_MS = MINUTE_MS;
export const CHANNEL_REST_MS_MAX = HOUR_MS;

/** The length of a chain of agents that wake each other without a person in between. */
export const HOPS_MAX = 8;

/** Automatic wakes of one worker in the time below, unless the project says otherwise: each one costs a turn. */
export const WAKES_PER_HOUR = 60;
/** The number that a project may set at most: its file may come from a stranger, and each wake costs its user a turn. */
export const WAKES_PER_HOUR_MAX = 600;
export const WAKE_WINDOW_MS = HOUR_MS;

/** How long after a failure, of the disk for instance, delivery is tried again. */
export const FAILED_REVIEW_MS = 5 * SECOND_MS;

/** How often mail that waits because of these bounds is looked at again. */
export const HELD_REVIEW_MS = MINUTE_MS;

/** How often the built-in agent looks for mail. A watch would tell it at once, but a user has few of those, and tests start agents by the hundred. */
export const INBOX_FILE_POLL_MS = 300;

/** How long the socket of a running program may take to accept a message. */
export const WAKE_SOCKET_MS = 5 * SECOND_MS;

/** How long the server inside a running program may take for an answer; it shares a thread with the program's work. */
export const WAKE_SERVER_MS = 20 * SECOND_MS;

/** Messages of a conversation that a vendor's server is asked for: one turn has as many as it has steps. */
export const LAST_MESSAGES = 200;
/** How long a program may take to draw what was pasted; then no Enter follows, and a person finds the text where they type. */
export const PASTE_SHOWN_MS = 5 * SECOND_MS;

/** How often the screen is looked at meanwhile. */
export const PASTE_POLL_MS = 50;

/** How long what was pasted must stand there unchanged before Enter: gemini takes one that comes sooner for a part of the paste. */
export const PASTE_SETTLE_MS = SECOND_MS / 5;

/** Lines that a program draws below its input. What was said is drawn the same way by some, but has the input, or a dialog, below it. */
export const INPUT_FOOTER_LINES_MAX = 4;

/** Lines of an input, with the lines above and below it: what is typed and pasted there is a few words, in a narrow terminal several lines. */
export const INPUT_LINES_MAX = 12;

/** How often it is looked whether a person has sent or cleared a line in which mail of ours stands. */
export const STANDING_REVIEW_MS = SECOND_MS;
