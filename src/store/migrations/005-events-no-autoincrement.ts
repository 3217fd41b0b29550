// Applied migrations are never edited: a store out there already has this one.
export const eventsNoAutoincrement = /* sql */ `
-- Without AUTOINCREMENT, which writes the last number into a page of its own at every commit. Numbers are not given out
-- twice all the same: they go on from the newest event, and that one is never dropped.
CREATE TABLE events_rebuilt (
  seq INTEGER PRIMARY KEY,
  at_ms INTEGER NOT NULL,
  type TEXT NOT NULL,
  project_id INTEGER,
  worker_id INTEGER,
  run_id TEXT,
  generation INTEGER,
  data TEXT NOT NULL
) STRICT;
INSERT INTO events_rebuilt SELECT seq, at_ms, type, project_id, worker_id, run_id, generation, data FROM events;
DROP TABLE events;
ALTER TABLE events_rebuilt RENAME TO events;

-- Which files are still needed is asked at every start and every few minutes; most messages have none.
CREATE INDEX messages_with_files ON messages (attachments) WHERE attachments IS NOT NULL;
`;
