import { asRead, type Db } from "./db.ts";
import { DamagedRow } from "./failure.ts";

interface Meta {
  clean: number;
  epoch_floor: number;
  /** The wall-clock time of the machine's boot, by which mail expires, and the id of that boot. */
  mail_clock: string;
  /** The id of the store, which no other store has. */
  uid: string;
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
