import { adminVerbs } from "./admin/index.ts";
import { conversationVerbs } from "./conversations/index.ts";
import { fleetVerbs } from "./fleet/index.ts";
import { mailVerbs } from "./mail/index.ts";
import { nameVerbs } from "./names/index.ts";
import type { VerbGroup, VerbTable } from "./shared/command.ts";

/**
 * The verbs by subject, in the order of `perdure help`. Each becomes a program of its own (scripts/verb-programs.js). A folder with several verbs
 * has a table of its own.
 */
export const VERB_GROUPS: readonly VerbGroup[] = [
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
