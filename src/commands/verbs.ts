import { adminVerbs } from "./admin/index.ts";
import { conversationVerbs } from "./conversations/index.ts";
import { fleetVerbs } from "./fleet/index.ts";
import { mailVerbs } from "./mail/index.ts";
import { nameVerbs } from "./names/index.ts";
import type { VerbGroup, VerbTable } from "./shared/command.ts";

/**
 * Every verb by name; the empty name is the bare `perdure`. Each becomes a program of its own (scripts/verb-programs.js). A folder
 * with several verbs has a table of its own.
 */
export const VERBS: VerbTable = {
  "": async () => (await import("./names/overview.ts")).overview,
  run: async () => (await import("./run/run.ts")).runCommand,
  demo: async () => (await import("./demo/demo.ts")).demo,
  context: async () => (await import("./context/context.ts")).context,
  ...fleetVerbs,
  ...mailVerbs,
  ...nameVerbs,
  ...conversationVerbs,
  ...adminVerbs,
};

/** The headings of `perdure help`, and the verbs below each; what somebody types every day comes first. */
export const HELP_GROUPS: readonly VerbGroup[] = [
  {
    title: "Every day",
    verbs: ["up", "run", "ls", "attach", "send", "inbox", "ask", "logs", "restart", "down"],
  },
  {
    title: "Workers and fleets",
    verbs: ["init", "trust", "stop", "show", "wait", "whoami", "rename", "retire", "takeover", "project"],
  },
  {
    title: "Conversations",
    verbs: ["history", "adopt", "fork", "drill", "save", "saved", "forget"],
  },
  {
    title: "Mail",
    verbs: ["reply", "turn", "pending", "mail", "cancel", "pause"],
  },
  {
    title: "Setting up and looking after perdure",
    verbs: [
      "demo",
      "doctor",
      "events",
      "metrics",
      "notify",
      "daemon",
      "backup",
      "context",
      "skill",
      "extension",
      "mcp",
      "pi-session",
      "completion",
    ],
  },
];
