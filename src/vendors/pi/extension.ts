import { join } from "node:path";
import { WORDS_LENGTH_MAX } from "../../limits/index.ts";
import type { Activity, Sign } from "../../protocol/records/conversation.ts";
import { textOf } from "../../util/fields.ts";
import { own } from "../../util/own.ts";
import type { LaunchFile } from "../launch-plan.ts";
import { afterFailedTurn } from "../shared/failed-turn.ts";
import { EVENT_PREFIX, STATUS_LINE_FILE, WAKE_FILE } from "../shared/hook-script.ts";
import { MAIL_SOURCE } from "./extension-mail.ts";
import { PERSON_SOURCE } from "./extension-person.ts";

/** The events that tell whether pi works. A dialog may open and close while pi works and while it does not, and so may a name be given. */
const ACTIVITY_OF_EVENT: Readonly<Record<string, Activity | null>> = {
  session_start: "idle",
  agent_start: "busy",
  agent_settled: "idle",
  ui_prompt_start: "blocked",
  ui_prompt_end: null,
  session_info_changed: null,
};

/**
 * The extension runs inside pi, which knows no hooks. It leaves one file per event in the run's folder, whole or not at
 * all, with the daemon dead too; one that a full disk did not take stays empty, which tells that something is missing. It never throws
 * into pi, and never prints. The name grows with time, from one load of
 * it to the next: pi loads it anew for every conversation. Beside that it hands mail over and serves the person in front of pi.
 */
export function extension(runDir: string): LaunchFile {
  const text = `import { existsSync, readFileSync, renameSync, rmSync, watch, writeFileSync } from "node:fs";
const folder = ${JSON.stringify(runDir)};
function writeEvent(text) {
  const name = process.pid + "." + process.hrtime.bigint() + ".p" + process.pid;
  const draft = folder + "/." + name + ".tmp";
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: "wx" });
  } catch {}
  try {
    renameSync(draft, folder + "/${EVENT_PREFIX}" + name);
  } catch {}
}
${MAIL_SOURCE}${PERSON_SOURCE}export default function (pi) {
  const hasOwnDialog = servePerson(pi);
  const report = (event) => (data, ctx) => {
    try {
      if (event === "ui_prompt_start" && hasOwnDialog()) return;
      const session_id = ctx.sessionManager.getSessionId();
      const transcript_path = ctx.sessionManager.getSessionFile();
      const leaf = ctx.sessionManager.getLeafId?.();
      const name = ctx.sessionManager.getSessionName?.()?.slice(0, ${WORDS_LENGTH_MAX}) ?? null;
      const facts = { event, reason: data.reason, idle: ctx.isIdle(), leaf, name, session_id, transcript_path };
      writeEvent(JSON.stringify(event === "agent_settled" ? { ...facts, error } : facts));
    } catch {}
  };
  // A turn that failed settles like any other; only its last message tells. A retry that helps has another one.
  let error = null;
  pi.on("agent_end", ({ messages }) => {
    const last = messages?.at(-1);
    error = last?.stopReason === "error" ? String(last.errorMessage ?? "").slice(0, ${WORDS_LENGTH_MAX}) : null;
  });
  for (const event of ${JSON.stringify(Object.keys(ACTIVITY_OF_EVENT))}) pi.on(event, report(event));
  const wake = handMail(pi, report("mail"), () => error !== null);
  let here = null;
  let watcher = null;
  const look = (file) => {
    if (here !== null && file === "${WAKE_FILE}") wake(here);
    if (here !== null && file === "${STATUS_LINE_FILE}") showStatus(here);
  };
  pi.on("session_start", (event, ctx) => {
    here = ctx;
    try {
      watcher ??= watch(folder, (_, file) => look(file));
      watcher.on("error", () => undefined).unref();
    } catch {}
    look("${WAKE_FILE}");
    look("${STATUS_LINE_FILE}");
  });
  pi.on("session_shutdown", () => {
    here = null;
    watcher?.close();
    watcher = null;
  });
}
`;
  return { name: "extension.mjs", text };
}

export function extensionFile(runDir: string): string {
  return join(runDir, "extension.mjs");
}

export function onHook(event: Readonly<Record<string, unknown>>): Sign | null {
  const session = textOf(event.session_id);
  const name = textOf(event.event);
  if (session === null || name === null) return null;
  const reason = textOf(event.reason);
  const activity = own(ACTIVITY_OF_EVENT, name) ?? (event.idle === true ? "idle" : "busy");
  const error = textOf(event.error);
  return {
    session,
    means: "open",
    evidence: `${name} in its extension${reason ? ` (${reason})` : ""}`,
    transcript: textOf(event.transcript_path) ?? undefined,
    activity,
    ...("name" in event && { name: textOf(event.name)?.slice(0, WORDS_LENGTH_MAX) ?? null }),
    // At the start of a turn the process is at the entry of its own prompt, and at the end at that of its own answer.
    prompt: (TURN_EVENTS.has(name) ? textOf(event.leaf) : null) ?? undefined,
    // Pi has no permissions: an extension of the user asks something.
    ...(activity === "blocked" ? { blocked: "question" } : {}),
    ...(error === null ? {} : afterFailedTurn({ status: statusIn(error), words: error })),
  };
}

const TURN_EVENTS = new Set(["agent_start", "agent_settled"]);

/** Pi puts the provider's status in front of the provider's words. */
function statusIn(error: string): number | null {
  const status = /^(?:Retry failed after \d+ attempts: )?(\d{3})\b/.exec(error)?.[1];
  return status === undefined ? null : Number(status);
}
