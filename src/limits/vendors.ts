import { MIB, MINUTE_MS, SECOND_MS } from "./units.ts";

// The bounds of calling vendors' programs, receiving their hooks and reaching their servers.

/** How long a vendor's program may take to mint a conversation before the start fails: a cold one is slow on a busy laptop. */
export const MINT_WAIT_MS = MINUTE_MS;

/** How long to wait for a killed child, which ends in milliseconds unless a process outside its group holds one of its pipes. */
export const CHILD_END_WAIT_MS = 2 * SECOND_MS;

/** Bytes at the end of a conversation's file that are searched for its name: a name that was given long before counts as none. */
export const CONVERSATION_NAME_BYTES = 16 * MIB;

/** Bytes read of one hook event; the rest is ignored. */
export const HOOK_EVENT_BYTES_MAX = 4 * MIB;

/** How long a vendor waits for our hook: it takes 4 ms, and must not be cut off when a stalled disk makes it take longer. */
export const HOOK_WAIT_MS = 20 * SECOND_MS;

/** How long a vendor's program may take to answer a query about its conversations, and how many bytes it may print. */
export const ASK_PROGRAM_MS = 30 * SECOND_MS;
export const ASK_PROGRAM_BYTES_MAX = 256 * MIB;

/** How soon a connection to a program's own server is retried, and how long one request to it may take. */
export const LISTEN_RETRY_MS = 250;
export const LISTEN_ANSWER_MS = 5 * SECOND_MS;

/** Ports for programs that have to listen on one, below the range that the kernel uses for outgoing connections. */
export const FREE_PORT_FIRST = 20_000;
export const FREE_PORT_COUNT = 12_000;

/** Characters of one line that a program prints in a turn: what a tool has read may be in it, and a longer line holds no answer that is wanted. */
export const TURN_LINE_CHARS_MAX = 16 * MIB;
