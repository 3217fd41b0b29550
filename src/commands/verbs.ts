import { own } from "../protocol/own.ts";
import type { Command } from "./command.ts";

/** Every verb. The empty one is the bare `perdure`. Each is loaded only when called. */
export const VERBS: Readonly<Record<string, () => Promise<Command>>> = {
  "": async () => (await import("./overview.ts")).overview,
  run: async () => (await import("./run.ts")).runCommand,
  up: async () => (await import("./up.ts")).up,
  down: async () => (await import("./down.ts")).down,
  stop: async () => (await import("./stop.ts")).stop,
  attach: async () => (await import("./attach.ts")).attach,
  logs: async () => (await import("./logs.ts")).logs,
  trust: async () => (await import("./trust.ts")).trust,
  ls: async () => (await import("./ls.ts")).ls,
  show: async () => (await import("./show.ts")).show,
  history: async () => (await import("./history.ts")).history,
  whoami: async () => (await import("./whoami.ts")).whoamiCommand,
  context: async () => (await import("./context.ts")).context,
  rename: async () => (await import("./rename.ts")).rename,
  retire: async () => (await import("./retire.ts")).retire,
  adopt: async () => (await import("./adopt.ts")).adopt,
  fork: async () => (await import("./fork.ts")).fork,
  restart: async () => (await import("./restart.ts")).restart,
  save: async () => (await import("./save.ts")).save,
  saved: async () => (await import("./saved.ts")).saved,
  forget: async () => (await import("./forget.ts")).forget,
  drill: async () => (await import("./drill.ts")).drill,
  takeover: async () => (await import("./takeover.ts")).takeover,
  send: async () => (await import("./send.ts")).send,
  ask: async () => (await import("./ask.ts")).askCommand,
  reply: async () => (await import("./reply.ts")).reply,
  inbox: async () => (await import("./inbox.ts")).inbox,
  pending: async () => (await import("./pending.ts")).pending,
  mail: async () => (await import("./mail.ts")).mail,
  cancel: async () => (await import("./cancel.ts")).cancel,
  pause: async () => (await import("./pause.ts")).pause,
  project: async () => (await import("./project.ts")).project,
  events: async () => (await import("./events.ts")).events,
  doctor: async () => (await import("./doctor.ts")).doctor,
  daemon: async () => (await import("./daemon.ts")).daemon,
  init: async () => (await import("./init.ts")).init,
  backup: async () => (await import("./backup.ts")).backup,
  "pi-session": async () => (await import("./pi-session.ts")).piSession,
  completion: async () => (await import("./completion.ts")).completion,
  demo: async () => (await import("./demo.ts")).demo,
};

/** For `perdure __complete`, which the shells' completions call: one candidate a line. */
export async function complete(words: readonly string[]): Promise<string> {
  const { candidates } = await import("./completion.ts");
  const options = async (verb: string): Promise<string[]> => {
    const command = await own(VERBS, verb)?.();
    return ["--json", "--help", ...Object.keys(command?.options ?? {}).map((name) => `--${name}`)];
  };
  return (await candidates(words, Object.keys(VERBS).filter(Boolean), options)).join("\n");
}

export { help } from "./help.ts";
export { tolerant } from "./tolerant.ts";
export { contextArchive } from "./context/archive.ts";
export { contextLog } from "./context/log.ts";
export { contextRecover } from "./context/recover.ts";
export { contextSweep } from "./context/sweep.ts";
