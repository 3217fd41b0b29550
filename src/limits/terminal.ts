import { SECOND_MS } from "./units.ts";

// The bounds of what verbs show and how often they look.

/** How often `ls --watch` looks unasked, and how long several changes wait to become one frame. */
export const WATCH_LOOK_MS = SECOND_MS;
export const WATCH_SETTLE_MS = 40;

/** Unread messages counted for the bare `perdure`: they come with their texts, and beyond this nobody counts. */
export const UNREAD_TOLD_MAX = 20;

/** Lines that `logs` shows unless it is asked for more. */
export const LOG_LINES_DEFAULT = 200;

/** How often `logs -f` looks: a terminal is read, not listened to, because what it shows changes as a whole. */
export const LOG_FOLLOW_MS = 500;

/** Lines of a first prompt that are shown before a fleet file is trusted. */
export const TRUST_PROMPT_LINES = 10;

/** A takeover that takes longer than this says what it waits for. */
export const SLOW_NOTICE_MS = 400;

/** How long the demo waits for anything: on a busy laptop a start takes seconds, and a demo that hangs explains nothing. */
export const DEMO_WAIT_MS = 20 * SECOND_MS;
