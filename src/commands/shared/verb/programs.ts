import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DIST } from "../../../state/paths.ts";
import type { HelpTable, HelpTopic } from "./help-page.ts";

/** Returns the program of a verb, or, for no word, of the bare `perdure`; null for a word that is no verb. */
export function verbProgram(verb: string | null): string | null {
  if (verb === null) return null;
  if (verb === "") return join(DIST, "bare.cjs");
  const file = join(DIST, `verb-${verb}.cjs`);
  return /^[a-z][a-z-]*$/.test(verb) && existsSync(file) ? file : null;
}

/** Reads what the help tells of every verb, as it was written when the programs were built. */
export function helpTable(): HelpTable {
  return JSON.parse(readFileSync(join(DIST, "help.json"), "utf8")) as HelpTable;
}

/** Reads the pages by task, as they were written when the programs were built. */
export function topicTable(): HelpTopic[] {
  return JSON.parse(readFileSync(join(DIST, "topics.json"), "utf8")) as HelpTopic[];
}
