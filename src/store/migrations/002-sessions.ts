// Applied migrations are never edited: a store out there already has this one.
export const sessions = /* sql */ `
ALTER TABLE workers ADD COLUMN vendor TEXT;
-- Which word of the command is the vendor's program; the vendor's arguments follow it.
ALTER TABLE workers ADD COLUMN program_at INTEGER;
-- The conversation it is in; the next start resumes it.
ALTER TABLE workers ADD COLUMN session_id INTEGER;
-- Why the last start was refused; null after one that was not.
ALTER TABLE workers ADD COLUMN unresumable TEXT;

CREATE TABLE sessions (
  id INTEGER PRIMARY KEY,
  worker_id INTEGER NOT NULL REFERENCES workers (id),
  vendor TEXT NOT NULL,
  vendor_id TEXT NOT NULL,
  config_dir TEXT NOT NULL,
  config_variables TEXT NOT NULL,
  launch_cwd TEXT NOT NULL,
  provenance TEXT NOT NULL CHECK (provenance IN ('assigned', 'minted', 'adopted', 'rotated')),
  rotated_from INTEGER,
  created_ms INTEGER NOT NULL,
  -- Since when it is nobody's: its worker was retired.
  released_ms INTEGER,
  transcript TEXT,
  -- The most the transcript was ever seen to have: they only grow.
  transcript_bytes INTEGER,
  -- The boot in which that was seen: what the machine had not yet written is lost with it.
  transcript_boot TEXT,
  -- Something was said in it: from then on an empty transcript is a loss.
  prompted INTEGER NOT NULL DEFAULT 0,
  version TEXT
) STRICT;
CREATE UNIQUE INDEX sessions_in_use ON sessions (vendor, config_dir, vendor_id) WHERE released_ms IS NULL;
CREATE INDEX sessions_by_worker ON sessions (worker_id);

-- Which conversations a run was in, and whether it proved to be.
CREATE TABLE run_sessions (
  run_id TEXT NOT NULL REFERENCES runs (id),
  -- In the order it entered them; one it comes back to is entered again.
  seq INTEGER NOT NULL,
  session_id INTEGER NOT NULL REFERENCES sessions (id),
  began TEXT NOT NULL CHECK (began IN ('new', 'resume', 'rotation')),
  at_ms INTEGER NOT NULL,
  proved TEXT NOT NULL CHECK (proved IN ('pending', 'true', 'false')),
  evidence TEXT,
  proved_ms INTEGER,
  -- What the transcript had when the run began: growth is a proof.
  bytes_before INTEGER,
  PRIMARY KEY (run_id, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_sessions_by_session ON run_sessions (session_id);
`;
