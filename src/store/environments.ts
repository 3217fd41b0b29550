import type { EnvironmentScope } from "../protocol/records/environment.ts";
import type { Db } from "./db.ts";
import { parseColumn } from "./failure.ts";
import { deleteMeta, readMeta } from "./meta.ts";

/** Names the file of the environment that a worker's later starts get; null for none. */
export function setEnvironment(
  db: Db,
  workerId: number,
  recorded: { file: string; scope: EnvironmentScope } | null,
): void {
  db.run(
    "UPDATE workers SET environment_file = ?, environment_scope = ? WHERE id = ?",
    recorded?.file ?? null,
    recorded?.scope ?? null,
    workerId,
  );
}

/** Returns the files that some worker still needs. */
export function environmentFilesInUse(db: Db): Set<string> {
  const rows = db.all<{ file: string }>(
    "SELECT DISTINCT environment_file AS file FROM workers WHERE environment_file IS NOT NULL",
  );
  return new Set(rows.map(({ file }) => file));
}

/**
 * Takes the environments that an earlier version recorded out of the store; `save` keeps each in a file and returns its name. No
 * page, used or free, and no log has any of them afterwards. If the daemon is killed in between, or the disk is full, the next
 * daemon does it again.
 */
export function takeEnvironmentsOut(db: Db, save: (environment: Record<string, string>) => string): void {
  if (readMeta(db, "environments_inside") === null) return;
  const workers = db.all<{ id: number; environment: string }>(
    "SELECT id, environment FROM workers WHERE environment <> '{}'",
  );
  const files = workers.map(({ id, environment }) => {
    return { id, file: save(parseColumn<Record<string, string>>("workers.environment", environment)) };
  });
  db.exec("PRAGMA secure_delete = ON; BEGIN IMMEDIATE");
  for (const { id, file } of files) setEnvironment(db, id, { file, scope: "known" });
  db.exec("UPDATE workers SET environment = '{}'; COMMIT; PRAGMA secure_delete = OFF");
  // Free pages hold what was overwritten before. The copy that VACUUM makes has the size of the store: too much for memory.
  db.exec("PRAGMA temp_store = FILE; VACUUM; PRAGMA temp_store = MEMORY; PRAGMA wal_checkpoint(TRUNCATE)");
  deleteMeta(db, "environments_inside");
}
