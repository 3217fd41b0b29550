import type { Outward } from "../../protocol/records/conversation.ts";
import type { ScreenFacet } from "../adapter.ts";
import type { BlockedExitForms } from "../shared/blocked-exit.ts";
import type { Dialog } from "../shared/screen.ts";

const DIALOGS: readonly Dialog[] = [
  ["trust", /^Do you trust the files in this folder\?$/, /^(?:● )?1\. Trust folder /],
  ["login", /^How would you like to authenticate for this project\?$/, /^(?:● )?1\. Sign in with Google$/],
  ["login", /^Enter Gemini API Key$/],
  ["limit", /^Usage limit reached for /, /^(?:● )?\d\. Stop(?: - Abort request)?$/],
];

const BLOCKED_EXIT: BlockedExitForms = {
  marked: [
    ["login", /^✕ \[API Error: .*(?:"code":40[13]\b|API key not valid|UNAUTHENTICATED)/],
    ["login", /^✕ Failed to (?:sign in|authenticate)\b/],
    ["limit", /^✕ \[API Error: .*(?:"code":429\b|RESOURCE_EXHAUSTED|exhausted your )/],
  ],
  column: 0,
  spoken: /^(?:✦ |> \S)/,
  lastWords: [
    [
      "login",
      /^(?:Please set an Auth method in your |Invalid auth method selected\.|When using Gemini API, you must )/,
    ],
    ["login", /^\[API Error: .*(?:"code":40[13]\b|API key not valid|UNAUTHENTICATED)/],
    ["limit", /^(?:Please wait and try again later\. To increase your limits|Possible quota limitations in place)/],
    ["limit", /^\[API Error: .*(?:"code":429\b|RESOURCE_EXHAUSTED|exhausted your )/],
    // Gemini prints the error as an object, and this is its end.
    ["login", /^status: 40[13]$/],
    ["limit", /^status: 429$/],
  ],
};

/** Gemini titles its terminal `✦  Working… (api)`, with a thought instead of the word, or `◇  Ready (api)`. */
const TITLES: readonly (readonly [RegExp, Outward])[] = [
  [/^✋ +Action Required/, { activity: "blocked", blocked: "permission" }],
  [/^[✦⏲] /, { activity: "busy" }],
  [/^◇ +Ready/, { activity: "idle" }],
];

function title(text: string): Outward | null {
  return TITLES.find(([form]) => form.test(text))?.[1] ?? null;
}

/** The screen of gemini. */
export const geminiScreen: ScreenFacet = {
  dialogs: DIALOGS,
  blockedExit: BLOCKED_EXIT,
  failsOnScreenOnly: true,
  title,
};
