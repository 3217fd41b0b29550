import type { VerbTable } from "../shared/command.ts";

/** Verbs that write, trust, start, stop and show a fleet. */
export const fleetVerbs: VerbTable = {
  init: async () => (await import("./init.ts")).init,
  trust: async () => (await import("./trust.ts")).trust,
  up: async () => (await import("./up.ts")).up,
  down: async () => (await import("./down.ts")).down,
  stop: async () => (await import("./stop.ts")).stop,
  restart: async () => (await import("./restart.ts")).restart,
  attach: async () => (await import("./attach.ts")).attach,
  logs: async () => (await import("./logs.ts")).logs,
};
