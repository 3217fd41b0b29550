import type { Db } from "./db.ts";

type MetaKey = "clean" | "epoch_floor";

export function readMeta(db: Db, key: MetaKey): number | null {
  return db.one<{ value: number }>("SELECT value FROM meta WHERE key = ?", key)?.value ?? null;
}

export function writeMeta(db: Db, key: MetaKey, value: number): void {
  db.run(
    "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    key,
    value,
  );
}
