import { PerdureError } from "../protocol/errors.ts";
import type { Db } from "./db.ts";

export function schemaVersion(db: Db): number {
  return db.one<{ user_version: number }>("PRAGMA user_version")?.user_version ?? 0;
}

/** Applies the missing migrations, each with its version number in one transaction, so a kill leaves none half done. */
export function migrate(db: Db, migrations: readonly string[]): void {
  const version = schemaVersion(db);
  if (version > migrations.length) throw newerSchema(version, migrations.length);
  for (let index = version; index < migrations.length; index++) {
    db.exec(`BEGIN IMMEDIATE; ${migrations[index]}; PRAGMA user_version = ${index + 1}; COMMIT;`);
  }
}

function newerSchema(found: number, known: number): PerdureError {
  return new PerdureError(
    "version",
    `The store was written by a newer perdure (schema ${found}; this one knows ${known}). Nothing was changed.`,
    { hint: "upgrade perdure, or point PERDURE_HOME to another folder" },
  );
}
