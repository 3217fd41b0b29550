// Applied migrations are never edited: a store out there already has this one.
export const movedProjects = /* sql */ `
-- Which folder the project is, by inode and birth: a move inside a file system keeps both.
ALTER TABLE projects ADD COLUMN folder_mark TEXT;
-- The commits without a parent, as JSON: a move to another file system keeps them.
ALTER TABLE projects ADD COLUMN root_commits TEXT;
CREATE INDEX workers_named ON workers (name_key) WHERE retired_ms IS NULL;
-- The options of the user's with which the agent last came up in its conversation: they are not what ends a later start.
ALTER TABLE workers ADD COLUMN proved_options TEXT;
`;
