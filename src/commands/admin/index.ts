import type { VerbTable } from "../shared/command.ts";

/** Verbs about perdure itself. */
export const adminVerbs: VerbTable = {
  doctor: async () => (await import("./doctor.ts")).doctor,
  events: async () => (await import("./events.ts")).events,
  metrics: async () => (await import("./metrics.ts")).metrics,
  notify: async () => (await import("./notify.ts")).notify,
  daemon: async () => (await import("./daemon.ts")).daemon,
  backup: async () => (await import("./backup.ts")).backup,
  skill: async () => (await import("./skill.ts")).skill,
  extension: async () => (await import("./extension.ts")).extensionCommand,
  completion: async () => (await import("./completion.ts")).completion,
};
