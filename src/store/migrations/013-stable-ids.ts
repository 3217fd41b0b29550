// Applied migrations are never edited: a store out there already has this one.
export const stableIds = /* sql */ `
-- What a project and a worker are called where row numbers, slugs, names and paths mean nothing: on another machine.
ALTER TABLE projects ADD COLUMN uid TEXT NOT NULL DEFAULT '';
UPDATE projects SET uid = lower(hex(randomblob(16)));
CREATE UNIQUE INDEX projects_by_uid ON projects (uid);
ALTER TABLE workers ADD COLUMN uid TEXT NOT NULL DEFAULT '';
UPDATE workers SET uid = lower(hex(randomblob(16)));
CREATE UNIQUE INDEX workers_by_uid ON workers (uid);
-- The store's own, in front of the id of a message: a sender may choose that id, so it is unique in this store only.
INSERT INTO meta (key, value) VALUES ('uid', lower(hex(randomblob(16))));

-- Dead letters of a project are listed, and most settled messages are none. A message that is sent is in no page of this index.
CREATE INDEX messages_undelivered ON messages (project_id, seq) WHERE state IN ('expired', 'cancelled', 'superseded', 'dead');
`;
