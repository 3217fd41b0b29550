import type { Outward } from "../../protocol/records/conversation.ts";
import type { ScreenFacet } from "../adapter.ts";
import type { BlockedExitForms } from "../shared/blocked-exit.ts";
import type { Dialog, MarkedLine } from "../shared/screen.ts";

const DIALOGS: readonly Dialog[] = [
  ["trust", /^Do you trust this folder\?$/, /^(?:› )?1\. Trust folder /],
  ["login", /^Connect a Provider$/, /^(?:› )?Custom Provider$/],
];

const BLOCKED_EXIT: BlockedExitForms = {
  marked: [
    ["login", /^✕ \[API Error: 40[13]\b/],
    ["login", /^✕ Missing API key for /],
    ["limit", /^✕ \[API Error: 429\b/],
    ["limit", /^✕ (?:\[API Error: )?Qwen OAuth (?:quota exceeded|free tier)\b/],
  ],
  column: 2,
  spoken: /^(?:◆|> \S)/,
  lastWords: [
    ["login", /^(?:Missing API key for |No auth type is selected\.|\[API Error: 40[13]\b)/],
    ["limit", /^\[API Error: 429\b/],
  ],
};

/** Qwen says so once, and records again only in another conversation. In its other languages the line is not known. */
const STOPS_RECORDING: MarkedLine = { form: /^△\uFE0E? (Session recording stopped[^.]*)/, column: 2 };

/** The title has a mark in front of a name, and none while qwen is idle; a variation selector may follow the mark. */
const TITLES: readonly (readonly [RegExp, Outward])[] = [
  [/^✳\uFE0E? /, { activity: "blocked", blocked: "permission" }],
  [/^◐\uFE0E? /, { activity: "busy" }],
  [/^Qwen - /, { activity: "idle" }],
];

function title(text: string): Outward | null {
  return TITLES.find(([form]) => form.test(text))?.[1] ?? null;
}

/** The screen of qwen. */
export const qwenScreen: ScreenFacet = {
  dialogs: DIALOGS,
  blockedExit: BLOCKED_EXIT,
  stopsRecording: STOPS_RECORDING,
  remedies: [[/^Session recording stopped/, "/clear begins one that is recorded; what is said until then is lost"]],
  title,
};
