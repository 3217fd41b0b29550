import { EVENT_PAGE_ROWS } from "../limits/index.ts";
import { asRead, type Db } from "./db.ts";

export interface StoredEvent {
  seq: number;
  atMs: number;
  type: string;
  projectId: number | null;
  workerId: number | null;
  runId: string | null;
  generation: number | null;
  data: string;
}

/** An event with the names that its project and worker have today. */
export interface NamedEvent extends StoredEvent {
  project: string | null;
  projectUid: string | null;
  worker: string | null;
  workerUid: string | null;
}

export function insertEvent(db: Db, event: Omit<StoredEvent, "seq">): void {
  const seq = db.insert(
    "INSERT INTO events (at_ms, type, project_id, worker_id, run_id, generation, data) VALUES (?, ?, ?, ?, ?, ?, ?)",
    event.atMs,
    event.type,
    event.projectId,
    event.workerId,
    event.runId,
    event.generation,
    event.data,
  );
  // Every commit asks for the last number.
  db.primeCache(LAST_SEQ, [], { seq });
  if (!NO_RECORD.test(event.type)) lastOfARecord.set(db, seq);
}

const LAST_SEQ = "SELECT max(seq) AS seq FROM events";

export interface EventFilter {
  projectId: number | null;
  workerId: number | null;
}

const NAMED = `SELECT seq, at_ms AS atMs, type, events.project_id AS projectId, events.worker_id AS workerId,
    run_id AS runId, events.generation, data, projects.slug AS project, projects.uid AS projectUid,
    workers.name AS worker, workers.uid AS workerUid
  FROM events
  LEFT JOIN projects ON projects.id = events.project_id
  LEFT JOIN workers ON workers.id = events.worker_id
  WHERE (?1 IS NULL OR events.project_id = ?1) AND (?2 IS NULL OR events.worker_id = ?2)`;

export function eventsAfter(db: Db, after: number, filter: EventFilter, limit: number): NamedEvent[] {
  return db.all(`${NAMED} AND seq > ?3 ORDER BY seq LIMIT ?4`, filter.projectId, filter.workerId, after, limit);
}

export function lastEvents(db: Db, filter: EventFilter, limit: number): NamedEvent[] {
  return db
    .all<NamedEvent>(`${NAMED} ORDER BY seq DESC LIMIT ?3`, filter.projectId, filter.workerId, limit)
    .toReversed();
}

/** Events after which nothing is to be written for tools that read files: mail and turns, which most events are about. */
const NO_RECORD = /^(?:mail\.|worker\.activity$)/;

/**
 * Whether all events after `seq` are about mail or turns, as most are; every commit asks. An event that was rolled back may make
 * the answer false, which costs one search in vain.
 */
export function isNoRecordAfter(db: Db, seq: number): boolean {
  return (lastOfARecord.get(db) ?? 0) <= seq;
}

/** The newest event of this process that is about neither mail nor turns, by connection. */
const lastOfARecord = new WeakMap<Db, number>();

/** Whether all events after `seq` are about messages, none of which changes what a worker does. */
export function isOnlyMailAfter(db: Db, seq: number): boolean {
  const found = db.one(
    "SELECT 1 FROM events WHERE seq > ? AND (type NOT LIKE 'mail.%' OR type = 'mail.held') LIMIT 1",
    seq,
  );
  return found === null;
}

/** Returns the events about notices, the newest first. */
export function lastNoticeEvents(db: Db): Pick<StoredEvent, "type" | "atMs" | "data">[] {
  return db.all(
    "SELECT type, at_ms AS atMs, data FROM events WHERE type IN ('notice.sent', 'notice.failed') ORDER BY seq DESC LIMIT ?",
    EVENT_PAGE_ROWS,
  );
}

/** Returns the projects in which something other than mail and turns happened. */
export function projectsChanged(db: Db, after: number): number[] {
  return db
    .all<{ project_id: number }>(
      "SELECT DISTINCT project_id FROM events WHERE seq > ? AND project_id IS NOT NULL AND type NOT LIKE 'mail.%' AND type <> 'worker.activity'",
      after,
    )
    .map(({ project_id: id }) => id);
}

export function lastEventSeq(db: Db): number {
  return db.cachedOne(asRead<{ seq: number | null }>, LAST_SEQ)?.seq ?? 0;
}
