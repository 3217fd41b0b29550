import type { Outward } from "../../protocol/records/conversation.ts";
import type { ScreenFacet } from "../adapter.ts";
import { errorOn, type BlockedExitForm, type BlockedExitForms, type BlockedKind } from "../shared/blocked-exit.ts";
import type { Dialog } from "../shared/screen.ts";

const DIALOGS: readonly Dialog[] = [
  ["trust", /^Trust this folder\? /, /^(?:› )?1\. Trust and continue$/],
  ["trust", /^Hooks need review$/, /^(?:› )?1\. Review hooks$/],
  ["login", /^Choose how you want to use Codex\.$/, /^(?:> )?1\. Sign in with ChatGPT$/],
];

const SAID: readonly BlockedExitForm[] = [
  ["login", /^(?:■|ERROR:) unexpected status 40[13] (?:Unauthorized|Forbidden)\b/],
  ["login", /^(?:■|ERROR:) Your (?:access token|authentication session) could not be refreshed\b/],
  ["login", /^(?:■|ERROR:) Missing environment variable: `/],
  ["limit", /^(?:■|ERROR:) You['’]ve hit your usage limit\b/],
  ["limit", /^(?:■|ERROR:) (?:You're|Your workspace is) out of credits\b/],
  ["limit", /^(?:■|ERROR:) (?:Quota exceeded\.|exceeded retry limit, last status: 429\b)/],
];

const BLOCKED_EXIT: BlockedExitForms = {
  marked: SAID,
  column: 0,
  spoken: /^(?:• |› (?!Ask Codex to do anything))/,
  lastWords: [],
};

/**
 * The title is `[ ! ] Action Required | api`, which blinks; `⠇ api` while codex works; else the folder, or what the
 * user has chosen.
 */
function title(text: string): Outward | null {
  if (/^\[ [!.] \] Action Required/.test(text)) return { activity: "blocked", blocked: "permission" };
  return text.trim() === "" ? null : { activity: /^[⠀-⣿] /u.test(text) ? "busy" : "idle" };
}

/** Says which login or limit a turn failed for, by the words of codex's error; null when it was another error. */
export function blockedByError(words: string): BlockedKind | null {
  return errorOn(`■ ${words}`, BLOCKED_EXIT)?.kind ?? null;
}

/** The screen of codex. */
export const codexScreen: ScreenFacet = {
  dialogs: DIALOGS,
  blockedExit: BLOCKED_EXIT,
  remedies: [
    [/Missing environment variable: `([^`]+)`/, "set $1, then bring it down and up again"],
    [/(?:401 Unauthorized|could not be refreshed)/, "codex login"],
  ],
  title,
};
