import { join } from "node:path";
import type { Activity, Holder, SessionLocation, Sign, Transcript } from "../../protocol/records/conversation.ts";
import { VERSION } from "../../protocol/version.ts";
import { DIST, homeDir } from "../../state/paths.ts";
import type { Environment } from "../../util/environment.ts";
import { textOf } from "../../util/fields.ts";
import type { Adapter, ConfigDir, ProcessView } from "../adapter.ts";
import type { LaunchPlan, PlanRequest } from "../launch-plan.ts";
import { readArguments } from "../shared/arguments.ts";
import type { BlockedExitForms } from "../shared/blocked-exit.ts";
import { asWord, firstPrompt } from "../shared/first-prompt.ts";
import { takesIdAndPrompt } from "../shared/identity.ts";
import { listTranscripts } from "../shared/listing.ts";
import { liveEntries, liveEntry, type ProcessStarts } from "../shared/live-registry.ts";
import { probeLines, type TranscriptForm } from "../shared/transcript.ts";
import { WAKE_FILE } from "../shared/hook-script.ts";
import { SCRIPTED_ARGUMENTS } from "./arguments.ts";
import { scriptedDelivery } from "./delivery.ts";
import { scriptedTurn } from "./turn.ts";

/** The lines that the orders `login` and `limit` make the scripted agent say. */
const BLOCKED_EXIT: BlockedExitForms = {
  marked: [],
  column: 0,
  lastWords: [
    ["login", /^Not logged in\. Please log in and start again\.$/],
    ["limit", /^Usage limit reached\. It resets tomorrow\.$/],
  ],
  spoken: /^> \S/,
};

/** Our own small agent needs no model and no network. The demo shows it, and the tests start it by the hundred. */
export const scripted: Adapter = {
  vendor: "scripted",
  command: [join(DIST, "..", "bin", "perdure-scripted.js")],
  tested: [VERSION],
  unproved: null,
  launch: {
    readArgs: (args) => readArguments(args, SCRIPTED_ARGUMENTS),
    plan,
    ...takesIdAndPrompt,
    forks: true,
  },
  storage: {
    configDirOf,
    probe: ({ id, configDir }: SessionLocation): Promise<Transcript> =>
      probeLines(join(configDir, "sessions", `${id}.jsonl`), id, FORM),
    writesTo: ({ configDir }) => join(configDir, "sessions"),
    list: (configDir, limit) =>
      listTranscripts({ folder: join(configDir, "sessions"), depth: 0, idOf: idOfFile, form: FORM }, limit),
  },
  liveness: {
    watchDir: (configDir) => join(configDir, "live"),
    inspect,
    holders,
    leftovers: (configDir, process) => inspect(configDir, process.pid, { inspect: () => process }),
  },
  screen: {
    blockedExit: BLOCKED_EXIT,
  },
  delivery: scriptedDelivery,
  turn: scriptedTurn(BLOCKED_EXIT),
};

function idOfFile(path: string): string | null {
  return /^([A-Za-z0-9._-]+)\.jsonl$/.exec(path)?.[1] ?? null;
}

const FORM: TranscriptForm = {
  header: true,
  read: (line) => {
    const own = line.type === "session" ? line : {};
    const words = line.type === "user" ? (textOf(line.text) ?? undefined) : undefined;
    return { session: textOf(own.id), version: textOf(own.version), seenIn: textOf(own.cwd) ?? undefined, words };
  },
};

function configDirOf(env: Environment): ConfigDir {
  if (env.PERDURE_SCRIPTED_HOME) {
    return { dir: env.PERDURE_SCRIPTED_HOME, variables: { PERDURE_SCRIPTED_HOME: env.PERDURE_SCRIPTED_HOME } };
  }
  const data = env.XDG_DATA_HOME || join(homeDir(env), ".local", "share");
  const dir = join(data, "perdure-scripted");
  return { dir, variables: { PERDURE_SCRIPTED_HOME: dir } };
}

function plan(request: PlanRequest): LaunchPlan {
  const { step, session, from, name, args, runDir } = request;
  const stem = from === null ? [] : ["--fork", from.session];
  const chosen = step === "resume" ? ["--resume", session] : ["--session-id", session, ...stem];
  const identity = [...chosen, "--name", name];
  const { headless } = readArguments(args, SCRIPTED_ARGUMENTS);
  const promptArgs = asWord(firstPrompt(request, headless, SCRIPTED_ARGUMENTS), args, SCRIPTED_ARGUMENTS);
  const variables = headless ? {} : { PERDURE_SCRIPTED_INBOX: join(runDir, WAKE_FILE) };
  return { args: [...identity, ...args, ...promptArgs], files: [], variables };
}

const EVIDENCE = "its entry among live processes";

function inspect(configDir: string, pid: number, processes: ProcessStarts): Sign[] {
  const entry = liveEntry(join(configDir, "live"), pid, processes);
  const session = textOf(entry?.fields.session);
  const activity = activityOf(entry?.fields.status);
  // The scripted agent only ever asks for permission.
  const blocked = activity === "blocked" ? ("permission" as const) : undefined;
  return session === null ? [] : [{ session, means: "open", evidence: EVIDENCE, activity, blocked }];
}

function activityOf(status: unknown): Activity | undefined {
  return status === "idle" || status === "busy" || status === "blocked" ? status : undefined;
}

function holders({ id, configDir }: SessionLocation, processes: ProcessView): Holder[] {
  return liveEntries(join(configDir, "live"), processes)
    .filter(({ fields }) => fields.session === id)
    .map(({ pid }) => ({ pid, evidence: EVIDENCE }));
}
