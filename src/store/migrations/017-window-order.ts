// Applied migrations are never edited: a store out there already has this one.
export const windowOrder = /* sql */ `
-- The number of the worker's window in its project's tmux session, where it was last seen; windows come back in that order.
ALTER TABLE workers ADD COLUMN window_index INTEGER;
`;
