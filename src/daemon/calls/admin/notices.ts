import type { CallParams, CallResults } from "../../../protocol/calls/index.ts";
import type { NoticeOutcome } from "../../../protocol/records/needs.ts";
import { lastNoticeEvents } from "../../../store/events.ts";
import { parseColumn } from "../../../store/failure.ts";
import { workersOfProject } from "../../../store/workers.ts";
import { iso } from "../../../util/iso.ts";
import { projectOf } from "../../names/lookup.ts";
import { testNotice } from "../../notify/needs.ts";
import type { CallContext } from "../context.ts";

/** Sends a test at once, at any hour and whoever looks, in the environment of the worker that was made last. */
export async function testNoticeCall(
  params: CallParams<"testNotice">,
  { services }: CallContext,
): Promise<CallResults["testNotice"]> {
  const { sender } = services.notifier;
  const project = projectOf(services, params);
  const workers = project === null ? [] : workersOfProject(services.db, project.id);
  const newest = workers.toSorted((a, b) => b.id - a.id).find(({ command }) => command !== null);
  const subject = project && newest ? { projectId: project.id, workerId: newest.id } : null;
  const notice = testNotice(project?.slug ?? params.here.base, services.now());
  const settings = sender.settings();
  const outcomes = await sender.send(notice, subject, settings);
  const rang = outcomes.some(({ channel }) => channel === "bell");
  return { outcomes: rang ? outcomes : [silentBell(settings.bell), ...outcomes] };
}

/** Says why no bell rang, which is no failure. */
function silentBell(isOn: boolean): NoticeOutcome {
  if (isOn) return { channel: "bell", ok: true, detail: "none rang: no terminal is attached", reached: 0 };
  return { channel: "bell", ok: true, detail: "off, by bell = false" };
}

export async function noticeFailuresCall(
  _params: CallParams<"noticeFailures">,
  { services }: CallContext,
): Promise<CallResults["noticeFailures"]> {
  const fine = new Set<string>();
  const failures = new Map<string, { channel: string; why: string; at: string }>();
  for (const { type, atMs, data } of lastNoticeEvents(services.db)) {
    const { by = "", channel = "", why = "" } = parseColumn<Record<string, string>>("events.data", data);
    if (type === "notice.sent") for (const each of by.split(" ")) fine.add(each);
    else if (!fine.has(channel) && !failures.has(channel)) failures.set(channel, { channel, why, at: iso(atMs) });
  }
  return Promise.resolve({ failures: [...failures.values()] });
}
