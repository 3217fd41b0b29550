// Applied migrations are never edited: a store out there already has this one.
export const conversationNames = /* sql */ `
-- The name that the user gave to the conversation inside the vendor's program (Pi's /name), as that last told it.
ALTER TABLE sessions ADD COLUMN name TEXT;
`;
