import { own } from "../util/own.ts";
import { helpOverview, helpPage } from "./admin/help.ts";
import type { VerbGroup, VerbTable } from "./shared/command.ts";

/** The verbs by subject, in the order of `perdure help`. Each is loaded only when it is called. */
const VERB_GROUPS: readonly VerbGroup[] = [
  {
    title: "Run",
    verbs: {
      run: async () => (await import("./run/run.ts")).runCommand,
      demo: async () => (await import("./demo/demo.ts")).demo,
    },
  },
  {
    title: "Fleet",
    verbs: {
      init: async () => (await import("./fleet/init.ts")).init,
      trust: async () => (await import("./fleet/trust.ts")).trust,
      up: async () => (await import("./fleet/up.ts")).up,
      down: async () => (await import("./fleet/down.ts")).down,
      stop: async () => (await import("./fleet/stop.ts")).stop,
      restart: async () => (await import("./fleet/restart.ts")).restart,
      attach: async () => (await import("./fleet/attach.ts")).attach,
      logs: async () => (await import("./fleet/logs.ts")).logs,
    },
  },
  {
    title: "Mail",
    verbs: {
      send: async () => (await import("./mail/send.ts")).send,
      ask: async () => (await import("./mail/ask.ts")).askCommand,
      reply: async () => (await import("./mail/reply.ts")).reply,
      inbox: async () => (await import("./mail/inbox.ts")).inbox,
      pending: async () => (await import("./mail/pending.ts")).pending,
      mail: async () => (await import("./mail/mail.ts")).mail,
      cancel: async () => (await import("./mail/cancel.ts")).cancel,
      pause: async () => (await import("./mail/pause.ts")).pause,
    },
  },
  {
    title: "Names",
    verbs: {
      ls: async () => (await import("./names/ls.ts")).ls,
      show: async () => (await import("./names/show.ts")).show,
      whoami: async () => (await import("./names/whoami.ts")).whoamiCommand,
      rename: async () => (await import("./names/rename.ts")).rename,
      retire: async () => (await import("./names/retire.ts")).retire,
      takeover: async () => (await import("./names/takeover.ts")).takeover,
      project: async () => (await import("./names/project.ts")).project,
    },
  },
  {
    title: "Conversations",
    verbs: {
      history: async () => (await import("./conversations/history.ts")).history,
      adopt: async () => (await import("./conversations/adopt.ts")).adopt,
      fork: async () => (await import("./conversations/fork.ts")).fork,
      drill: async () => (await import("./conversations/drill.ts")).drill,
      save: async () => (await import("./conversations/save.ts")).save,
      saved: async () => (await import("./conversations/saved.ts")).saved,
      forget: async () => (await import("./conversations/forget.ts")).forget,
      "pi-session": async () => (await import("./conversations/pi-session.ts")).piSession,
    },
  },
  {
    title: "Context",
    verbs: {
      context: async () => (await import("./context/context.ts")).context,
    },
  },
  {
    title: "Admin",
    verbs: {
      doctor: async () => (await import("./admin/doctor.ts")).doctor,
      events: async () => (await import("./admin/events.ts")).events,
      daemon: async () => (await import("./admin/daemon.ts")).daemon,
      backup: async () => (await import("./admin/backup.ts")).backup,
      completion: async () => (await import("./admin/completion.ts")).completion,
    },
  },
];

/** Every verb by name. The empty name is the bare `perdure`. */
export const VERBS: VerbTable = {
  "": async () => (await import("./names/overview.ts")).overview,
  ...Object.fromEntries(VERB_GROUPS.flatMap(({ verbs }) => Object.entries(verbs))),
};

/** Returns the help of one verb, or of all: the value for `--json` and the text for people. */
export function help(verb: string | undefined): Promise<[value: object, text: () => string]> {
  return verb === undefined ? helpOverview(VERB_GROUPS) : helpPage(VERBS, verb);
}

/** Completes a command line for `perdure __complete`, which the shells' completion scripts call: one candidate per line. */
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
