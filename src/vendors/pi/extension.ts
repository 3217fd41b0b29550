import { join } from "node:path";
import type { Activity, Sign } from "../../protocol/records/conversation.ts";
import { textOf } from "../../util/fields.ts";
import { own } from "../../util/own.ts";
import type { LaunchFile } from "../launch-plan.ts";
import { EVENT_PREFIX } from "../shared/hook-script.ts";

/** The events that tell whether pi works. A dialog may open and close while pi works and while it does not. */
const ACTIVITY_OF_EVENT: Readonly<Record<string, Activity | null>> = {
  session_start: "idle",
  agent_start: "busy",
  agent_settled: "idle",
  ui_prompt_start: "blocked",
  ui_prompt_end: null,
};

/**
 * The extension runs inside pi, which knows no hooks. It leaves one file per event in the run's folder, whole or not at
 * all, with the daemon dead too. It never throws into pi, and never prints. The name grows with time, from one load of
 * it to the next: pi loads it anew for every conversation.
 */
export function extension(runDir: string): LaunchFile {
  const text = `import { renameSync, rmSync, writeFileSync } from "node:fs";
const folder = ${JSON.stringify(runDir)};
function writeEvent(text) {
  const name = process.pid + "." + process.hrtime.bigint();
  const draft = folder + "/." + name + ".tmp";
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: "wx" });
    renameSync(draft, folder + "/${EVENT_PREFIX}" + name);
  } catch {
    rmSync(draft, { force: true });
  }
}
export default function (pi) {
  const report = (event) => (data, ctx) => {
    try {
      const session_id = ctx.sessionManager.getSessionId();
      const transcript_path = ctx.sessionManager.getSessionFile();
      writeEvent(JSON.stringify({ event, reason: data.reason, idle: ctx.isIdle(), session_id, transcript_path }));
    } catch {}
  };
  for (const event of ${JSON.stringify(Object.keys(ACTIVITY_OF_EVENT))}) pi.on(event, report(event));
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
  return {
    session,
    evidence: `${name} in its extension${reason ? ` (${reason})` : ""}`,
    transcript: textOf(event.transcript_path) ?? undefined,
    activity,
    // Pi has no permissions: an extension of the user asks something.
    ...(activity === "blocked" ? { blocked: "question" } : {}),
  };
}
