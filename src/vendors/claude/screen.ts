import type { ScreenFacet } from "../adapter.ts";
import type { BlockedExitForms } from "../shared/blocked-exit.ts";
import type { Dialog, MarkedLine } from "../shared/screen.ts";

/**
 * Dialogs before the first sign. Later the registry tells; the title never does, because it looks the same at work and
 * in a dialog.
 */
const DIALOGS: readonly Dialog[] = [
  [
    "trust",
    /^Quick safety check: Is this a project you created or one you trust\?/,
    /^(?:❯ )?Yes, I trust this folder$/,
  ],
  ["login", /^Detected a custom API key in your environment$/, /^Do you want to use this API key\?$/],
  ["login", /^Select login method:$/, /^(?:❯ )?1\. Claude account /],
];

/** A marked line stands where an answer would, or where the output of a tool does: then an answer follows. */
const BLOCKED_EXIT: BlockedExitForms = {
  marked: [
    ["login", /^⎿ +(?:Not logged in|Login expired|OAuth token revoked|Login reached its time limit) · /],
    ["login", /^⎿ +Invalid (?:API key|auth token) · Fix external /],
    ["login", /^⎿ +Please run \/login · API Error: 40[13]\b/],
    ["limit", /^⎿ +You've (?:hit|reached) your [\w' -]{0,40}limit\b/],
    ["limit", /^⎿ +You're out of (?:extra usage|usage credits)\b/],
    ["limit", /^⎿ +(?:Usage limit reached(?: · |$)|Credit balance (?:is )?too low\b)/],
  ],
  column: 2,
  spoken: /^(?:● |❯ \S)/,
  lastWords: [
    ["login", /^(?:Not logged in|Login expired|OAuth token revoked|Invalid API key|Invalid auth token) · /],
    ["login", /^(?:Please run \/login · |Failed to authenticate\. )API Error: 40[13]\b/],
    ["login", /^(?:Failed to authenticate: OAuth |Session expired\. Please run \/login)/],
    ["limit", /^(?:You've (?:hit|reached) your [\w' -]{0,40}limit|You're out of|Credit balance (?:is )?too low)\b/],
  ],
};

/**
 * Claude says so as long as its last write has failed, and goes on answering. It does not write later what it could not write, so that
 * the conversation has a gap from then on, whatever it shows.
 */
const STOPS_RECORDING: MarkedLine = {
  form: /^⚠\uFE0E? (Transcript writes are failing \([^)]*\))/,
  column: 2,
  inFooter: true,
};

/** The screen of claude. */
export const claudeScreen: ScreenFacet = {
  dialogs: DIALOGS,
  blockedExit: BLOCKED_EXIT,
  stopsRecording: STOPS_RECORDING,
  remedies: [
    [
      /^Transcript writes are failing/,
      "what is said meanwhile is lost to a resume: make room, or its files writable, then /clear",
    ],
  ],
};
