import { own } from "../util/own.ts";
import { helpOverview, helpPage } from "./admin/help.ts";
import { adminVerbs } from "./admin/index.ts";
import { conversationVerbs } from "./conversations/index.ts";
import { fleetVerbs } from "./fleet/index.ts";
import { mailVerbs } from "./mail/index.ts";
import { nameVerbs } from "./names/index.ts";
import type { VerbGroup, VerbTable } from "./shared/command.ts";

/**
 * The verbs by subject, in the order of `perdure help`. Each is loaded only when it is called. A folder with several verbs
 * has a table of its own.
 */
const VERB_GROUPS: readonly VerbGroup[] = [
  {
    title: "Run",
    verbs: {
      run: async () => (await import("./run/run.ts")).runCommand,
      demo: async () => (await import("./demo/demo.ts")).demo,
    },
  },
  { title: "Fleet", verbs: fleetVerbs },
  { title: "Mail", verbs: mailVerbs },
  { title: "Names", verbs: nameVerbs },
  { title: "Conversations", verbs: conversationVerbs },
  { title: "Context", verbs: { context: async () => (await import("./context/context.ts")).context } },
  { title: "Admin", verbs: adminVerbs },
];

/** Every verb by name. The empty name is the bare `perdure`. */
export const VERBS: VerbTable = {
  "": async () => (await import("./names/overview.ts")).overview,
  ...Object.fromEntries(VERB_GROUPS.flatMap(({ verbs }) => Object.entries(verbs))),
};

/** Returns the help of one verb, or of all: the value for `--json` and the text for people. */
export function help(verb: string | undefined): Promise<[value: object, text: () => string]> {
  return verb === undefined ? helpOverview(VERB_GROUPS) : helpPage(VERBS, verb);
}

/** Completes a command line for `perdure __complete`, which the shells' completion scripts call: one candidate per line. */
export async function complete(words: readonly string[]): Promise<string> {
  const { candidates } = await import("./admin/completion.ts");
  const options = async (verb: string): Promise<string[]> => {
    const command = await own(VERBS, verb)?.();
    return ["--json", "--help", ...Object.keys(command?.options ?? {}).map((name) => `--${name}`)];
  };
  return (await candidates(words, Object.keys(VERBS).filter(Boolean), options)).join("\n");
}

export { withConfigWarning } from "./shared/config-warning.ts";
export { contextArchive } from "./context/archive.ts";
export { contextLog } from "./context/log.ts";
export { contextRecover } from "./context/recover.ts";
export { contextSweep } from "./context/sweep.ts";
