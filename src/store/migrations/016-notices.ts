// Applied migrations are never edited: a store out there already has this one.
export const notices = /* sql */ `
-- What somebody is needed for, and whether they were told: a daemon that replaces a killed one does not tell it again. There is at
-- most one row for each worker that needs somebody, and one for each sender of mail that the operator has not read.
CREATE TABLE notices (
  project_id INTEGER NOT NULL,
  worker_id INTEGER NOT NULL,
  -- 'worker' for a need of the worker itself, 'mail' for its mail to the operator.
  subject TEXT NOT NULL,
  kind TEXT NOT NULL,
  reason TEXT,
  since_ms INTEGER NOT NULL,
  told_ms INTEGER,
  is_told INTEGER NOT NULL,
  PRIMARY KEY (worker_id, subject)
) STRICT, WITHOUT ROWID;
`;
