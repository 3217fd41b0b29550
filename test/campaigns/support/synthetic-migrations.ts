import { MIGRATIONS } from "../../../src/store/migrations/index.ts";

/** The table `runs` with one column more, in the order that lets a table be dropped while foreign keys are enforced. */
const RUNS_REBUILT = `PRAGMA defer_foreign_keys = ON;
  CREATE TABLE runs_new (id TEXT PRIMARY KEY, worker_id INTEGER NOT NULL REFERENCES workers (id), generation INTEGER NOT NULL,
    kind TEXT NOT NULL, token_hash TEXT NOT NULL UNIQUE, pid INTEGER NOT NULL, process_started TEXT NOT NULL, boot_id TEXT NOT NULL,
    started_ms INTEGER NOT NULL, ended_ms INTEGER, exit INTEGER, reason TEXT, displaced_ms INTEGER, displaced_by TEXT, pane TEXT, stopped_by TEXT,
    pid_namespace TEXT, host TEXT, hops INTEGER NOT NULL DEFAULT 0, turn INTEGER NOT NULL DEFAULT 0,
    proof TEXT NOT NULL DEFAULT 'none', UNIQUE (worker_id, generation)) STRICT;
  INSERT INTO runs_new SELECT *, 'none' FROM runs;
  CREATE TABLE notes_kept AS SELECT * FROM notes; DELETE FROM notes;
  DROP TABLE runs;
  ALTER TABLE runs_new RENAME TO runs;
  INSERT INTO notes SELECT * FROM notes_kept; DROP TABLE notes_kept;
  CREATE INDEX runs_alive ON runs (id) WHERE ended_ms IS NULL`;

/**
 * The real schema, then what upgrades have ever done to one: columns, back-filled values, new tables filled from old
 * ones, indexes, and tables rebuilt, the one that others refer to included.
 */
export const SYNTHETIC: readonly string[] = [
  ...MIGRATIONS,
  "ALTER TABLE workers ADD COLUMN colour TEXT; UPDATE workers SET colour = 'blue' WHERE id % 3 = 0",
  "CREATE TABLE notes (id INTEGER PRIMARY KEY, run_id TEXT NOT NULL REFERENCES runs (id), text TEXT NOT NULL) STRICT; INSERT INTO notes (run_id, text) SELECT id, 'note of ' || id FROM runs",
  "CREATE INDEX events_by_type ON events (type, at_ms)",
  RUNS_REBUILT,
  "ALTER TABLE events ADD COLUMN size INTEGER NOT NULL DEFAULT 0; UPDATE events SET size = length(data)",
  `PRAGMA defer_foreign_keys = ON;
   CREATE TABLE workers_kept AS SELECT * FROM workers;
   DROP TABLE workers;
   CREATE TABLE workers (id INTEGER PRIMARY KEY, project_id INTEGER NOT NULL REFERENCES projects (id), name TEXT NOT NULL,
     name_key TEXT NOT NULL, created_ms INTEGER NOT NULL, retired_ms INTEGER, lease_phase TEXT NOT NULL, generation INTEGER NOT NULL,
     holder_run TEXT, command TEXT, cwd TEXT, environment TEXT NOT NULL, ephemeral INTEGER NOT NULL, vendor TEXT,
     program_at INTEGER, session_id INTEGER, unresumable TEXT, fork_of INTEGER, declared TEXT,
     started_by INTEGER, paused INTEGER NOT NULL, desired INTEGER NOT NULL, fleet_settings TEXT, on_hold TEXT, restarts INTEGER NOT NULL,
     proved_options TEXT, uid TEXT NOT NULL, window_index INTEGER, environment_file TEXT, environment_scope TEXT,
     colour TEXT) STRICT;
   INSERT INTO workers SELECT * FROM workers_kept;
   DROP TABLE workers_kept;
   CREATE UNIQUE INDEX workers_by_name ON workers (project_id, name_key) WHERE retired_ms IS NULL`,
  "DROP INDEX events_by_type; ALTER TABLE notes RENAME COLUMN text TO body",
  "UPDATE events SET data = data || ' '",
  "CREATE TABLE labels (worker_id INTEGER NOT NULL REFERENCES workers (id), label TEXT NOT NULL, PRIMARY KEY (worker_id, label)) STRICT, WITHOUT ROWID; INSERT INTO labels SELECT id, 'l' || (id % 7) FROM workers",
  "ALTER TABLE runs DROP COLUMN proof; ALTER TABLE runs ADD COLUMN session TEXT",
];
