// Applied migrations are never edited: a store out there already has this one.
export const turns = /* sql */ `
-- 1 for a run that is one turn without a terminal, begun by mail.
ALTER TABLE runs ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;

-- What a turn was begun for, and what came of it.
CREATE TABLE turns (
  run_id TEXT PRIMARY KEY,
  worker_id INTEGER NOT NULL,
  project_id INTEGER NOT NULL,
  -- The message that the turn answers; NULL where nobody waits for an answer.
  ask TEXT,
  -- The ids of all its messages, as JSON.
  messages TEXT NOT NULL,
  -- The conversation that the turn was begun in, by the vendor's id; the answer has to come from there.
  session TEXT NOT NULL,
  -- The length of the transcript when the program started; NULL where that is not known.
  bytes_before INTEGER,
  started_ms INTEGER NOT NULL,
  -- The end of what was answered or given up; the program itself may take a moment longer.
  ended_ms INTEGER,
  outcome TEXT CHECK (outcome IN ('answered', 'done', 'failed', 'returned', 'stopped')),
  reason TEXT
) WITHOUT ROWID;

CREATE INDEX turns_of_worker ON turns (worker_id, started_ms);
CREATE INDEX turns_of_project ON turns (project_id, started_ms);
`;
