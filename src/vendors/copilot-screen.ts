import type { Adapter } from "./adapter.ts";
import type { HeldForms } from "./held.ts";
import type { Dialog } from "./screen.ts";

const DIALOGS: readonly Dialog[] = [["trust", /^Confirm folder trust$/, /^Do you trust the files in this folder\?$/]];

const HELD: HeldForms = {
  marked: [["login", /^✗ (?:Authentication failed with provider at |No authentication information found\b)/]],
  spoken: /^(?:● (?!Request failed )|❯ \S)/,
  lastWords: [["login", /^(?:Error: )?No authentication information found\b/]],
};

/** What a terminal with copilot in it shows. Its title has only what was said. */
export const copilotScreen: Pick<Adapter, "dialogs" | "held"> = { dialogs: DIALOGS, held: HELD };
