// Applied migrations are never edited: a store out there already has this one.
export const fleet = /* sql */ `
-- It was brought up and not brought down since: it should run.
ALTER TABLE workers ADD COLUMN desired INTEGER NOT NULL DEFAULT 0;
-- How it is kept: group, restart policy, first prompt; JSON.
ALTER TABLE workers ADD COLUMN keeping TEXT;
-- Why it is not started again without a person: JSON.
ALTER TABLE workers ADD COLUMN held TEXT;
-- By nobody's hand, since it was brought up.
ALTER TABLE workers ADD COLUMN restarts INTEGER NOT NULL DEFAULT 0;
CREATE INDEX workers_desired ON workers (id) WHERE desired = 1;

-- In our tmux server; null for one in somebody's own terminal.
ALTER TABLE runs ADD COLUMN pane TEXT;
-- Who asked it to end.
ALTER TABLE runs ADD COLUMN stopped_by TEXT;

-- What the operator has agreed to: a fleet file runs commands, and repositories come from strangers. One per project.
CREATE TABLE trusted (
  project_id INTEGER PRIMARY KEY REFERENCES projects (id),
  digest TEXT NOT NULL,
  text TEXT NOT NULL,
  -- What its prompts were, by worker: hashes.
  prompts TEXT NOT NULL,
  at_ms INTEGER NOT NULL
) STRICT;
`;
