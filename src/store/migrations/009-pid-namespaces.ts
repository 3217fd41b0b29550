// Applied migrations are never edited: a store out there already has this one.
export const pidNamespaces = /* sql */ `
-- Where the holder's pid counts; null for a run of before: its pid may be one of another container.
ALTER TABLE runs ADD COLUMN pid_namespace TEXT;
ALTER TABLE runs ADD COLUMN host TEXT;
`;
