// Applied migrations are never edited: a store out there already has this one.
export const plainWords = /* sql */ `
-- "held" is a lease's word; a worker that waits for a person is on hold.
UPDATE workers SET held = json_set(held, '$.state', 'on-hold') WHERE json_valid(held) AND held ->> '$.state' = 'held';
UPDATE events SET type = 'worker.on-hold' WHERE type = 'worker.held';
ALTER TABLE workers RENAME COLUMN held TO on_hold;
ALTER TABLE workers RENAME COLUMN keeping TO fleet_settings;
-- Who started the worker last; a supervisor is what a nested agent has.
ALTER TABLE workers RENAME COLUMN supervisor_id TO started_by;
`;
