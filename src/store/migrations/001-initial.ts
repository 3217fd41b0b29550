// Applied migrations are never edited: a store out there already has this one.
export const initial = /* sql */ `
CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value ANY NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE projects (
  id INTEGER PRIMARY KEY,
  slug TEXT NOT NULL,
  slug_key TEXT NOT NULL UNIQUE,
  identity TEXT NOT NULL UNIQUE,
  root TEXT NOT NULL,
  created_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE workers (
  id INTEGER PRIMARY KEY,
  project_id INTEGER NOT NULL REFERENCES projects (id),
  name TEXT NOT NULL,
  name_key TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  retired_ms INTEGER,
  lease_phase TEXT NOT NULL DEFAULT 'free' CHECK (lease_phase IN ('free', 'held', 'displacing')),
  generation INTEGER NOT NULL DEFAULT 0,
  holder_run TEXT,
  command TEXT,
  cwd TEXT,
  environment TEXT NOT NULL DEFAULT '{}',
  -- Retired by the end of its run: a lock on somebody else's key, not an agent.
  ephemeral INTEGER NOT NULL DEFAULT 0,
  CHECK ((lease_phase = 'free') = (holder_run IS NULL))
) STRICT;
CREATE UNIQUE INDEX workers_by_name ON workers (project_id, name_key) WHERE retired_ms IS NULL;

-- A name its worker no longer has. Kept so that the old name can say "X is now Y".
CREATE TABLE tombstones (
  project_id INTEGER NOT NULL REFERENCES projects (id),
  name_key TEXT NOT NULL,
  name TEXT NOT NULL,
  worker_id INTEGER NOT NULL REFERENCES workers (id),
  created_ms INTEGER NOT NULL,
  PRIMARY KEY (project_id, name_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX tombstones_by_worker ON tombstones (worker_id);

CREATE TABLE runs (
  id TEXT PRIMARY KEY,
  worker_id INTEGER NOT NULL REFERENCES workers (id),
  generation INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('run', 'client')),
  token_hash TEXT NOT NULL UNIQUE,
  pid INTEGER NOT NULL,
  process_started TEXT NOT NULL,
  boot_id TEXT NOT NULL,
  started_ms INTEGER NOT NULL,
  ended_ms INTEGER,
  exit INTEGER,
  reason TEXT,
  displaced_ms INTEGER,
  displaced_by TEXT,
  UNIQUE (worker_id, generation)
) STRICT;
CREATE INDEX runs_alive ON runs (id) WHERE ended_ms IS NULL;

-- The last epoch given out per host, project and worker: a run id never repeats, even if the clock steps back.
CREATE TABLE epochs (
  key TEXT PRIMARY KEY,
  last INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  at_ms INTEGER NOT NULL,
  type TEXT NOT NULL,
  project_id INTEGER,
  worker_id INTEGER,
  run_id TEXT,
  generation INTEGER,
  data TEXT NOT NULL
) STRICT;
`;
