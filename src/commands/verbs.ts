import type { Command } from "./command.ts";

/** Every verb. The empty one is the bare `perdure`. Each is loaded only when called. */
export const VERBS: Readonly<Record<string, () => Promise<Command>>> = {
  "": async () => (await import("./overview.ts")).overview,
  run: async () => (await import("./run.ts")).run,
  ls: async () => (await import("./ls.ts")).ls,
  show: async () => (await import("./show.ts")).show,
  history: async () => (await import("./history.ts")).history,
  whoami: async () => (await import("./whoami.ts")).whoamiCommand,
  context: async () => (await import("./context.ts")).context,
  rename: async () => (await import("./rename.ts")).rename,
  retire: async () => (await import("./retire.ts")).retire,
  takeover: async () => (await import("./takeover.ts")).takeover,
  project: async () => (await import("./project.ts")).project,
  events: async () => (await import("./events.ts")).events,
  doctor: async () => (await import("./doctor.ts")).doctor,
  daemon: async () => (await import("./daemon.ts")).daemon,
  init: async () => (await import("./init.ts")).init,
  backup: async () => (await import("./backup.ts")).backup,
  demo: async () => (await import("./demo.ts")).demo,
};

export { help } from "./help.ts";
export { contextArchive } from "./context/archive.ts";
export { contextLog } from "./context/log.ts";
export { contextRecover } from "./context/recover.ts";
export { contextSweep } from "./context/sweep.ts";
