// Applied migrations are never edited: a store out there already has this one.
export const ownTurns = /* sql */ `
-- The marks of the last prompts that the worker's own runs sent in the conversation, newest last; a JSON list.
ALTER TABLE sessions ADD COLUMN own_prompts TEXT NOT NULL DEFAULT '[]';
-- The conversation took the place of one that its user had cleared, so the first prompt is not sent in it.
ALTER TABLE sessions ADD COLUMN cleared INTEGER NOT NULL DEFAULT 0;
-- A run was in the conversation since its copy was last known to be complete.
ALTER TABLE sessions ADD COLUMN copy_behind INTEGER NOT NULL DEFAULT 0;
-- What the last restore of the copy brought back, and what it lacked; JSON.
ALTER TABLE sessions ADD COLUMN restored TEXT;
`;
