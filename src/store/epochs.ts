import type { Db } from "./db.ts";

export function lastEpoch(db: Db, key: string): number | null {
  return db.one<{ last: number }>("SELECT last FROM epochs WHERE key = ?", key)?.last ?? null;
}

export function setEpoch(db: Db, key: string, last: number): void {
  db.run(
    "INSERT INTO epochs (key, last) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET last = excluded.last",
    key,
    last,
  );
}
