import type { Need } from "../../core/notices.ts";
import { PANE_WORDS_CHARS_MAX } from "../../limits/index.ts";
import { formatAddress } from "../../protocol/names.ts";
import { commandText, hintText, toHint, verb, type HintLike } from "../../protocol/hint.ts";
import { commandForNeed, isNeed, type NoticeRecord } from "../../protocol/records/needs.ts";
import type { WorkerSummary } from "../../protocol/records/worker.ts";
import { messageBySeq } from "../../store/messages.ts";
import type { UnreadSender } from "../../store/notices.ts";
import { projectById } from "../../store/projects.ts";
import { workerById } from "../../store/workers.ts";
import { iso } from "../../util/iso.ts";
import { describeWorker } from "../status/describe.ts";
import type { StatusServices } from "../status/services.ts";

/** Describes a worker by its id; null for one that is retired. */
export function summaryOf(services: StatusServices, workerId: number): WorkerSummary | null {
  const worker = workerById(services.db, workerId);
  const project = worker && projectById(services.db, worker.projectId);
  return worker === null || project === null || worker.retiredMs !== null
    ? null
    : describeWorker(services, project, worker).summary;
}

/** Returns what a worker needs somebody for; null if for nothing. */
export function needOf({ state, attention }: Pick<WorkerSummary, "state" | "attention">): Need | null {
  return isNeed(state) ? { kind: state, reason: attention } : null;
}

/** Writes what stands below the last screen of a worker that has ended: what brings it back; empty for one that lives. */
export function wordsBelow(worker: WorkerSummary, need: Need | null): string {
  if (worker.run !== null) return "";
  const { address, state, attention } = worker;
  if (state === "backing-off") return "backing-off: it is started again by itself";
  if (state === "stopped") return `→ ${commandText(verb("up", address))}`;
  if (need === null) return "";
  const hint = hintText(toHint(worker.next ?? commandForNeed(worker, address)));
  const words = [state, attention === null ? "" : `: ${attention}`, hint === null ? "" : ` → ${hint}`].join("");
  return words.replaceAll(/[\p{Cc}\s]+/gu, " ").slice(0, PANE_WORDS_CHARS_MAX);
}

/** Returns the need of somebody who reads mail; the id of the newest message is its last word. */
export function mailNeed(services: StatusServices, { messages, newest }: UnreadSender): Need {
  const id = messageBySeq(services.db, newest)?.id ?? String(newest);
  const reason = messages === 1 ? `1 unread message: ${id}` : `${messages} unread messages, the last one is ${id}`;
  return { kind: "mail", reason };
}

/** Writes what the user's programs are told of a worker that needs somebody, or of its mail. */
export function noticeOf(worker: WorkerSummary, { kind, reason }: Need, sinceMs: number): NoticeRecord {
  const { address, project } = worker;
  const since = iso(sinceMs);
  if (kind === "mail")
    return notice({ event: "needs-you", address, project, state: "mail", reason, since }, verb("inbox"));
  const hint = worker.next ?? commandForNeed(worker, address);
  return notice({ event: "needs-you", address, project, state: worker.state, reason, since }, hint);
}

/** Writes that a worker which somebody was told of needs nobody any more; null for the summary of one that is retired. */
export function wentOnNotice(worker: WorkerSummary, sinceMs: number): NoticeRecord {
  const { address, project, state } = worker;
  return notice({ event: "went-on", address, project, state, reason: null, since: iso(sinceMs) }, null);
}

/** Writes a notice that says nothing, to try the channels. */
export function testNotice(project: string, nowMs: number): NoticeRecord {
  const address = formatAddress(project, "test");
  return notice(
    { event: "test", address, project, state: "test", reason: "this is a test", since: iso(nowMs) },
    verb("ls"),
  );
}

function notice(fields: Omit<NoticeRecord, "schemaVersion" | "hint" | "next">, hint: HintLike | null): NoticeRecord {
  const next = toHint(hint);
  return { schemaVersion: 1, ...fields, hint: hintText(next), next };
}
