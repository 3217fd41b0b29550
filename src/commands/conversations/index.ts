import type { VerbTable } from "../shared/command.ts";

/** Verbs about the conversations that a worker is, was or could be in. */
export const conversationVerbs: VerbTable = {
  history: async () => (await import("./history.ts")).history,
  adopt: async () => (await import("./adopt.ts")).adopt,
  fork: async () => (await import("./fork.ts")).fork,
  drill: async () => (await import("./drill.ts")).drill,
  save: async () => (await import("./save.ts")).save,
  saved: async () => (await import("./saved.ts")).saved,
  forget: async () => (await import("./forget.ts")).forget,
  "pi-session": async () => (await import("./pi-session.ts")).piSession,
};
