import type { EventRecord } from "../../../protocol/records/admin.ts";
import { EVENT_PAGE_ROWS } from "../../../limits/index.ts";
import type { CallParams, CallResults } from "../../../protocol/calls/index.ts";
import { formatAddress } from "../../../protocol/names.ts";
import { OPERATOR } from "../../../protocol/records/mail.ts";
import { eventsAfter, lastEvents, lastEventSeq, type EventFilter, type NamedEvent } from "../../../store/events.ts";
import { parseColumn } from "../../../store/failure.ts";
import { iso } from "../../../util/iso.ts";
import type { Services } from "../../services.ts";
import { messageUid } from "../../mail/message-ids.ts";
import { findWorker, projectOf } from "../../names/lookup.ts";
import { commits } from "../commits.ts";
import type { CallContext } from "../context.ts";

const NO_PROJECT = -1;

/** Sends the last events, or those after a number; with `follow`, also every later one until the caller disconnects. */
export async function eventsCall(params: CallParams<"events">, context: CallContext): Promise<CallResults["events"]> {
  const { services } = context;
  const filter = eventFilter(params, services);
  let last = params.after ?? 0;
  const send = async (rows: NamedEvent[]): Promise<void> => {
    for (const row of rows) {
      await context.send(toRecord(services, row));
      last = row.seq;
    }
  };

  // Read before the first item is sent: events that are committed while a slow client reads must not be skipped.
  const newest = lastEventSeq(services.db);
  if (params.after === null) await send(lastEvents(services.db, filter(), params.limit));
  else await send(eventsAfter(services.db, params.after, filter(), params.limit));
  if (params.follow) {
    if (params.after === null) last = Math.max(last, newest);
    for await (const _ of commits(context)) {
      for (let rows = eventsAfter(services.db, last, filter(), EVENT_PAGE_ROWS); rows.length > 0;) {
        await send(rows);
        rows = eventsAfter(services.db, last, filter(), EVENT_PAGE_ROWS);
      }
    }
  }
  return { last };
}

/** Returns a function that makes the filter each time, because the folder may become a project while a caller follows it. */
function eventFilter(params: CallParams<"events">, services: Services): () => EventFilter {
  const workerId = params.target ? findWorker(services, params.target).worker.id : null;
  if (params.all) return () => ({ projectId: null, workerId });
  const target = params.target ?? { project: null, here: params.here };
  return () => ({ projectId: projectOf(services, target)?.id ?? NO_PROJECT, workerId });
}

function toRecord(services: Services, row: NamedEvent): EventRecord {
  const data = parseColumn<Record<string, unknown>>("events.data", row.data);
  return {
    seq: row.seq,
    at: iso(row.atMs),
    type: row.type,
    project: row.project,
    projectUid: row.projectUid,
    worker: row.worker,
    workerUid: row.workerUid,
    run: row.runId,
    generation: row.generation,
    data: row.type.startsWith("mail.") ? mailData(services, row, data) : data,
  };
}

/** Adds the uid of the message, if it is about one, and its reader, who is the event's worker: neither is stored with each event. */
function mailData(
  services: Services,
  { project, worker, workerId }: NamedEvent,
  data: Record<string, unknown>,
): Record<string, unknown> {
  const { id, ...rest } = data;
  const reader = project !== null && worker !== null ? formatAddress(project, worker) : null;
  const to = workerId === null ? OPERATOR : reader;
  // Some events are about the mail of a run, not about one message.
  const message = typeof id === "string" ? { id, uid: messageUid(services, id) } : {};
  return { ...message, ...rest, ...(to !== null && { to }) };
}
