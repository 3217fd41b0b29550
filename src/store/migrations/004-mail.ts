// Applied migrations are never edited: a store out there already has this one.
export const mailTables = /* sql */ `
-- Who started it: a worker, or the operator when there is none.
ALTER TABLE workers ADD COLUMN supervisor_id INTEGER;
-- Its mail waits.
ALTER TABLE workers ADD COLUMN paused INTEGER NOT NULL DEFAULT 0;

CREATE TABLE messages (
  -- The order in which they were taken in.
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  project_id INTEGER NOT NULL REFERENCES projects (id),
  -- Null for the operator, at both ends.
  to_worker INTEGER REFERENCES workers (id),
  from_worker INTEGER,
  -- What the sender was called then.
  from_name TEXT NOT NULL,
  from_run TEXT,
  body TEXT NOT NULL,
  -- Of all the sender chose: the same id with another one is a conflict.
  digest TEXT NOT NULL,
  state TEXT NOT NULL,
  attempt INTEGER NOT NULL DEFAULT 0,
  created_ms INTEGER NOT NULL,
  changed_ms INTEGER NOT NULL,
  expires_ms INTEGER,
  reply_to TEXT,
  expects_reply INTEGER NOT NULL DEFAULT 0,
  attachments TEXT,
  offer_run TEXT,
  offer_generation INTEGER
) STRICT;
CREATE UNIQUE INDEX messages_by_id ON messages (id);
CREATE INDEX messages_on_the_way ON messages (project_id, to_worker, seq) WHERE state IN ('queued', 'offered', 'injected');
CREATE INDEX messages_offered ON messages (offer_run) WHERE offer_run IS NOT NULL;
CREATE INDEX messages_expiring ON messages (expires_ms) WHERE expires_ms IS NOT NULL AND state IN ('queued', 'offered');
CREATE INDEX messages_settled ON messages (changed_ms) WHERE state NOT IN ('queued', 'offered', 'injected');
CREATE INDEX messages_unanswered ON messages (to_worker, seq) WHERE expects_reply = 1 AND state IN ('queued', 'offered', 'injected', 'read');
CREATE INDEX messages_replies ON messages (reply_to) WHERE reply_to IS NOT NULL;

-- What became of a message after it was taken in.
CREATE TABLE message_steps (
  seq INTEGER NOT NULL REFERENCES messages (seq) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  state TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  run_id TEXT,
  reason TEXT,
  PRIMARY KEY (seq, step)
) STRICT, WITHOUT ROWID;

-- What is on its way to each: counted, so that a full box is known without reading it. Worker 0 is the operator.
CREATE TABLE mailboxes (
  project_id INTEGER NOT NULL,
  worker_id INTEGER NOT NULL,
  messages INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (project_id, worker_id)
) STRICT, WITHOUT ROWID;
`;
