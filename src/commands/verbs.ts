import { own } from "../util/own.ts";
import { helpPage } from "./admin/help.ts";
import type { VerbTable } from "./shared/command.ts";

/** Every verb. The empty one is the bare `perdure`. Each is loaded only when called. */
export const VERBS: VerbTable = {
  "": async () => (await import("./names/overview.ts")).overview,
  run: async () => (await import("./run/run.ts")).runCommand,
  up: async () => (await import("./fleet/up.ts")).up,
  down: async () => (await import("./fleet/down.ts")).down,
  stop: async () => (await import("./fleet/stop.ts")).stop,
  attach: async () => (await import("./fleet/attach.ts")).attach,
  logs: async () => (await import("./fleet/logs.ts")).logs,
  trust: async () => (await import("./fleet/trust.ts")).trust,
  ls: async () => (await import("./names/ls.ts")).ls,
  show: async () => (await import("./names/show.ts")).show,
  history: async () => (await import("./conversations/history.ts")).history,
  whoami: async () => (await import("./names/whoami.ts")).whoamiCommand,
  context: async () => (await import("./context/context.ts")).context,
  rename: async () => (await import("./names/rename.ts")).rename,
  retire: async () => (await import("./names/retire.ts")).retire,
  adopt: async () => (await import("./conversations/adopt.ts")).adopt,
  fork: async () => (await import("./conversations/fork.ts")).fork,
  restart: async () => (await import("./fleet/restart.ts")).restart,
  save: async () => (await import("./conversations/save.ts")).save,
  saved: async () => (await import("./conversations/saved.ts")).saved,
  forget: async () => (await import("./conversations/forget.ts")).forget,
  drill: async () => (await import("./conversations/drill.ts")).drill,
  takeover: async () => (await import("./names/takeover.ts")).takeover,
  send: async () => (await import("./mail/send.ts")).send,
  ask: async () => (await import("./mail/ask.ts")).askCommand,
  reply: async () => (await import("./mail/reply.ts")).reply,
  inbox: async () => (await import("./mail/inbox.ts")).inbox,
  pending: async () => (await import("./mail/pending.ts")).pending,
  mail: async () => (await import("./mail/mail.ts")).mail,
  cancel: async () => (await import("./mail/cancel.ts")).cancel,
  pause: async () => (await import("./mail/pause.ts")).pause,
  project: async () => (await import("./names/project.ts")).project,
  events: async () => (await import("./admin/events.ts")).events,
  doctor: async () => (await import("./admin/doctor.ts")).doctor,
  daemon: async () => (await import("./admin/daemon.ts")).daemon,
  init: async () => (await import("./fleet/init.ts")).init,
  backup: async () => (await import("./admin/backup.ts")).backup,
  "pi-session": async () => (await import("./conversations/pi-session.ts")).piSession,
  completion: async () => (await import("./admin/completion.ts")).completion,
  demo: async () => (await import("./demo/demo.ts")).demo,
};

/** The help of one verb, or of all of them: the value for `--json` and the text for people. */
export function help(verb: string | undefined): ReturnType<typeof helpPage> {
  return helpPage(VERBS, verb);
}

/** For `perdure __complete`, which the shells' completions call: one candidate a line. */
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
