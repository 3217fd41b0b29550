// Applied migrations are never edited: a store out there already has this one.
export const custody = /* sql */ `
-- The conversation it begins as a branch of: until it has a transcript of its own, each start branches anew.
ALTER TABLE sessions ADD COLUMN forked_from INTEGER;
-- The conversation its next start is to branch.
ALTER TABLE workers ADD COLUMN fork_of INTEGER;
-- For a program without an adapter: how it is told to begin and to resume, as JSON.
ALTER TABLE workers ADD COLUMN declared TEXT;

-- The copy that is kept of a conversation; the bytes lie in a folder of the session's id.
CREATE TABLE custody (
  session_id INTEGER PRIMARY KEY REFERENCES sessions (id),
  bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  kept_ms INTEGER NOT NULL,
  -- What the vendor's file was when it was copied: unchanged, it need not be read again.
  source_bytes INTEGER NOT NULL,
  source_changed TEXT NOT NULL
) STRICT;

-- One human name for a whole fleet: which conversation each worker was in.
CREATE TABLE saved (
  id INTEGER PRIMARY KEY,
  project_id INTEGER NOT NULL REFERENCES projects (id),
  name TEXT NOT NULL,
  name_key TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL,
  UNIQUE (project_id, name_key)
) STRICT;
CREATE TABLE saved_sessions (
  saved_id INTEGER NOT NULL REFERENCES saved (id) ON DELETE CASCADE,
  worker_id INTEGER NOT NULL REFERENCES workers (id),
  session_id INTEGER NOT NULL REFERENCES sessions (id),
  PRIMARY KEY (saved_id, worker_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX saved_sessions_by_session ON saved_sessions (session_id);
CREATE INDEX saved_sessions_by_worker ON saved_sessions (worker_id);
-- The one that follows its workers from conversation to conversation.
ALTER TABLE projects ADD COLUMN active_saved INTEGER;
`;
