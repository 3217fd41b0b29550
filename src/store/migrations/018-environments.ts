// Applied migrations are never edited: a store out there already has this one.
export const environments = /* sql */ `
-- The file, by its digest, in which the environment of the worker's later starts is: values are in no store and in no backup of one.
ALTER TABLE workers ADD COLUMN environment_file TEXT;
-- How much of its caller's environment that is: 'whole', 'chosen' or 'known'.
ALTER TABLE workers ADD COLUMN environment_scope TEXT;
-- A store that has workers may have environments in it; the daemon moves them out before it serves, and removes this note.
INSERT INTO meta (key, value) SELECT 'environments_inside', 1 WHERE EXISTS (SELECT 1 FROM workers);
`;
