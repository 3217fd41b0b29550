import { asRead, type Db } from "./db.ts";
import { DamagedRow, ignoringDiskFull } from "./failure.ts";
import type { Run } from "./runs.ts";
import type { Worker } from "./workers.ts";

interface Meta {
  clean: number;
  epoch_floor: number;
  /** The wall-clock time of the machine's boot, by which mail expires, and the id of that boot. */
  mail_clock: string;
  /** The id of the store, which no other store has. */
  uid: string;
  /** The time of the last change that the store knew of when it was found to be a copy: what happened later is not in it. */
  copied_at_ms: number;
  /** The store's pages may still hold environments of workers, which an earlier version recorded in them. */
  environments_inside: number;
}

export function readMeta<K extends keyof Meta>(db: Db, key: K): Meta[K] | null {
  return db.one<{ value: Meta[K] }>("SELECT value FROM meta WHERE key = ?", key)?.value ?? null;
}

export function writeMeta<K extends keyof Meta>(db: Db, key: K, value: Meta[K]): void {
  db.run(
    "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    key,
    value,
  );
}

export function deleteMeta(db: Db, key: keyof Meta): void {
  db.run("DELETE FROM meta WHERE key = ?", key);
}

/** Returns the id of the store. Every message asks, so it is cached. */
export function storeUid(db: Db): string {
  const row = db.cachedOne(asRead<{ value: string }>, "SELECT value FROM meta WHERE key = 'uid'");
  if (row === null) throw new DamagedRow("the store has no id");
  return row.value;
}

/** Remembers that the store is a copy, put in its place while no daemon had it open. Returns the time of its last change. */
export function recordCopied(db: Db): number {
  const { at = 0 } = db.one<{ at: number }>("SELECT coalesce(max(at_ms), 0) AS at FROM events") ?? {};
  ignoringDiskFull(() => writeMeta(db, "copied_at_ms", at));
  return at;
}

/** Returns the time of the last change before the store was put in its place as a copy; null if it never was. */
export function copiedAtMs(db: Db): number | null {
  return readMeta(db, "copied_at_ms");
}

/**
 * Returns the time from which the store may know nothing of a worker that has run before, because the store is a copy; null once a run
 * has begun since. `but` is the run that begins now.
 */
export function unknownSince(db: Db, { id }: Worker, but: Run | null): number | null {
  const at = copiedAtMs(db);
  if (at === null) return null;
  const last = db.one<{ at: number | null }>(
    "SELECT max(started_ms) AS at FROM runs WHERE worker_id = ? AND id <> ?",
    id,
    but?.id ?? "",
  );
  return last?.at != null && last.at <= at ? at : null;
}
