// Applied migrations are never edited: a store out there already has this one.
export const sameFolder = /* sql */ `
-- Which folder the project's main tree is, by inode and birth: its git may go, come or be elsewhere.
ALTER TABLE projects ADD COLUMN root_mark TEXT;
-- Digests of the places that the repository was cloned from, as JSON: a shallow clone has them, and not the first commits.
ALTER TABLE projects ADD COLUMN remotes TEXT;
CREATE INDEX projects_rooted ON projects (root);
`;
