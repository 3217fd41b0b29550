import { MIB, MINUTE_MS, SECOND_MS } from "./units.ts";

// The bounds of asking vendors' programs, of hearing their hooks and of reaching their servers.

/** How long a vendor may take to open a conversation of its own before the start is given up: a cold one on a busy laptop. */
export const MINT_WAIT_MS = MINUTE_MS;

/** A child that was killed is gone in milliseconds; after longer, a process outside of its group keeps one of its pipes. */
export const CHILD_END_WAIT_MS = 2 * SECOND_MS;

/** Bytes of one hook event; a longer one is read no further. */
export const HOOK_EVENT_BYTES_MAX = 4 * MIB;

/** How long a vendor waits for our hook: it takes 4 ms, on a stalled disk more, and must not be cut off then. */
export const HOOK_WAIT_MS = 20 * SECOND_MS;

/** How long a vendor's program may take to answer a question about its conversations, and how much it may say. */
export const ASK_PROGRAM_MS = 30 * SECOND_MS;
export const ASK_PROGRAM_BYTES_MAX = 256 * MIB;

/** How soon a program's own server is tried again, and how long one question to it may take. */
export const LISTEN_RETRY_MS = 250;
export const LISTEN_ANSWER_MS = 5 * SECOND_MS;

/** Ports for programs that have to listen on one: below those that the kernel gives to outgoing connections. */
export const FREE_PORT_FIRST = 20_000;
export const FREE_PORT_COUNT = 12_000;
