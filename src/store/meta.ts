import type { Db } from "./db.ts";

interface Meta {
  clean: number;
  epoch_floor: number;
  /** The wall-clock time of the machine's boot, by which mail expires, and the id of that boot. */
  mail_clock: string;
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
