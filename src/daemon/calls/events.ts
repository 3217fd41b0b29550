import type { CallParams, CallResults } from "../../protocol/calls.ts";
import type { EventRecord } from "../../protocol/results.ts";
import { eventsAfter, lastEvents, lastEventSeq, type NamedEventRow } from "../../store/events.ts";
import { iso } from "../describe.ts";
import { findWorker, projectOf } from "../places.ts";
import type { CallContext } from "./context.ts";

const PAGE_ROWS = 500;

/** The last events, or those after a number; with `follow`, every later one until the caller goes. */
export async function eventsCall(params: CallParams<"events">, context: CallContext): Promise<CallResults["events"]> {
  const { house } = context;
  const workerId = params.target ? findWorker(house, params.target).worker.id : null;
  const project = params.all ? null : projectOf(house, params.target ?? { project: null, here: params.here });
  if (!params.all && project === null) return { last: lastEventSeq(house.db) };
  const filter = { projectId: project?.id ?? null, workerId };
  let last = params.after ?? 0;
  const send = async (rows: NamedEventRow[]): Promise<void> => {
    for (const row of rows) {
      await context.send(toRecord(row));
      last = row.seq;
    }
  };

  if (params.after === null) await send(lastEvents(house.db, filter, params.limit));
  else await send(eventsAfter(house.db, params.after, filter, params.limit));
  if (params.follow) {
    last = Math.max(last, params.after === null ? lastEventSeq(house.db) : last);
    for await (const _ of commits(context)) {
      for (let rows = eventsAfter(house.db, last, filter, PAGE_ROWS); rows.length > 0;) {
        await send(rows);
        rows = eventsAfter(house.db, last, filter, PAGE_ROWS);
      }
    }
  }
  return { last };
}

/** Yields once at the start and then after commits, until the connection closes. */
async function* commits({ house, closed }: CallContext): AsyncGenerator<void> {
  let wake: () => void = () => undefined;
  let pending = true;
  const signal = (): void => {
    pending = true;
    wake();
  };
  const stop = house.onCommit(signal);
  closed.addEventListener("abort", signal);
  try {
    while (!closed.aborted) {
      if (!pending) await new Promise<void>((resolve) => (wake = resolve));
      pending = false;
      if (!closed.aborted) yield;
    }
  } finally {
    stop();
    closed.removeEventListener("abort", signal);
  }
}

function toRecord(row: NamedEventRow): EventRecord {
  return {
    seq: row.seq,
    at: iso(row.at_ms),
    type: row.type,
    project: row.project,
    worker: row.worker,
    run: row.run_id,
    generation: row.generation,
    data: JSON.parse(row.data) as Record<string, unknown>,
  };
}
