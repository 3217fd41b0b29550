/**
 * The last part of a run id: seconds, but never one that was given out before, whatever the clock says.
 * `floor` is the highest epoch among forgotten rows, so that forgetting one cannot bring an id back.
 */
export function nextEpoch(nowMs: number, last: number | null, floor: number): number {
  const now = Math.floor(nowMs / 1000);
  return last === null ? Math.max(now, floor + 1) : Math.max(now, last + 1);
}
