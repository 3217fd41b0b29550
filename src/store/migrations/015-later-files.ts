// Applied migrations are never edited: a store out there already has this one.
export const laterCopies = /* sql */ `
-- The copies of a conversation's later files, for a vendor that goes on in another file than the first. They go with the copy of that.
CREATE TABLE custody_later (
  session_id INTEGER NOT NULL REFERENCES custody (session_id) ON DELETE CASCADE,
  -- The vendor's file; its copy has the same name.
  file TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  source_bytes INTEGER NOT NULL,
  source_changed TEXT NOT NULL,
  PRIMARY KEY (session_id, file)
) STRICT, WITHOUT ROWID;
`;
