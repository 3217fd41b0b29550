/**
 * Returns the last part of a run id: the time in seconds, but never an epoch that was used before, whatever the clock says.
 * `floor` is the highest epoch among deleted rows, so that deleting a row cannot bring an id back.
 */
export function nextEpoch(nowMs: number, last: number | null, floor: number): number {
  const now = Math.floor(nowMs / 1000);
  return last === null ? Math.max(now, floor + 1) : Math.max(now, last + 1);
}
