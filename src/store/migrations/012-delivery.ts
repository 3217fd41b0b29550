// Applied migrations are never edited: a store out there already has this one.
export const delivery = /* sql */ `
-- How many agents in a row have made each other write, without a person in between, up to this message.
ALTER TABLE messages ADD COLUMN hops INTEGER NOT NULL DEFAULT 0;
-- The hops of the mail that the run acts on; 0 since a person last spoke to it.
ALTER TABLE runs ADD COLUMN hops INTEGER NOT NULL DEFAULT 0;
-- The turns that mail has begun by itself, for the bound on them.
CREATE TABLE wakes (
  worker_id INTEGER NOT NULL,
  at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX wakes_of_worker ON wakes (worker_id, at_ms);
`;
