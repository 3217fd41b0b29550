import type { VerbTable } from "../shared/command.ts";

/** Verbs that list names, change them and say which one is yours. */
export const nameVerbs: VerbTable = {
  ls: async () => (await import("./ls.ts")).ls,
  wait: async () => (await import("./wait.ts")).wait,
  show: async () => (await import("./show.ts")).show,
  whoami: async () => (await import("./whoami.ts")).whoamiCommand,
  rename: async () => (await import("./rename.ts")).rename,
  retire: async () => (await import("./retire.ts")).retire,
  takeover: async () => (await import("./takeover.ts")).takeover,
  project: async () => (await import("./project.ts")).project,
};
