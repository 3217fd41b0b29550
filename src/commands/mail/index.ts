import type { VerbTable } from "../shared/command.ts";

/** Verbs that send, read and hold back mail. */
export const mailVerbs: VerbTable = {
  send: async () => (await import("./send.ts")).send,
  ask: async () => (await import("./ask.ts")).askCommand,
  turn: async () => (await import("./turn.ts")).turn,
  reply: async () => (await import("./reply.ts")).reply,
  inbox: async () => (await import("./inbox.ts")).inbox,
  pending: async () => (await import("./pending.ts")).pending,
  mail: async () => (await import("./mail.ts")).mail,
  cancel: async () => (await import("./cancel.ts")).cancel,
  mcp: async () => (await import("./mcp.ts")).mcp,
  pause: async () => (await import("./pause.ts")).pause,
};
