import type { ScreenFacet } from "../adapter.ts";
import type { BlockedExitForms } from "../shared/blocked-exit.ts";
import type { Dialog } from "../shared/screen.ts";

const DIALOGS: readonly Dialog[] = [
  ["trust", /^Confirm folder trust$/, /^Do you trust the files in this folder\?$/],
  // Copilot shows its input line as usual, and takes no input.
  ["login", /^Please use \/login to sign in to use Copilot$/, /^❯/, / · \/ commands · /],
];

const BLOCKED_EXIT: BlockedExitForms = {
  marked: [
    ["login", /^✗ (?:Authentication failed with provider at |You must be logged in to send messages\.)/],
    ["limit", /^✗ Failed to get response from the AI model; .* Last error: 429\b/],
  ],
  column: 1,
  spoken: /^(?:● (?!Request failed )|❯ \S)/,
  lastWords: [
    ["login", /^(?:Error: )?(?:Authentication failed with provider at |No authentication information found\b)/],
  ],
};

/** The screen of copilot. Its title repeats what was said and tells nothing else. */
export const copilotScreen: ScreenFacet = { dialogs: DIALOGS, blockedExit: BLOCKED_EXIT };
