/** How a start ended that was to resume a conversation, as far as it tells whether the vendor's program refused to. */
export interface EndedStart {
  /** The run was told to resume the conversation, and left before it was seen in it. */
  resumesUnproved: boolean;
  exit: number | null;
  /** Somebody ended the run: it was stopped, or its name was taken over. */
  requested: boolean;
  ranMs: number;
  /** The agent once came up in the conversation with the user's options of this start. */
  optionsProved: boolean;
  /** The line on the run's last screen with which the program refuses a conversation; null without one, or without a screen. */
  words: string | null;
  hasScreen: boolean;
}

/** The words for a refusal that nobody overheard. */
const UNSEEN_REFUSAL = "its terminal shows why";

/** Says how a start ended that the vendor's program refused in somebody's terminal. */
export function unseenRefusal(exit: number | null, ranMs: number): string {
  return `exit ${exit} after ${Math.max(1, Math.round(ranMs / 1000))} s; ${UNSEEN_REFUSAL}`;
}

/** Tells whether the reason of a refusal has the program's own words: only those say that the next start ends in the same way. */
export function hasVendorWords(reason: string): boolean {
  return !reason.endsWith(UNSEEN_REFUSAL);
}

/**
 * Tells whether the vendor's program itself refused to resume the conversation: by its own words where they can be seen. A program
 * in somebody's terminal is not overheard: there it has refused if it failed at once although it has taken the same options before,
 * so that no mistake in them can be the reason.
 */
export function isRefusedByVendor(end: EndedStart, atOnceMs: number): boolean {
  const failed = end.exit !== null && end.exit > 0 && end.exit < 126;
  if (!end.resumesUnproved || !failed || end.requested) return false;
  return end.hasScreen ? end.words !== null : end.optionsProved && end.ranMs < atOnceMs;
}
