/** Counts the time that passes while the machine is awake. Monotonic milliseconds. */
export interface AwakeTimer {
  tickedAtMs: number;
  awakeMs: number;
}

export function startTimer(nowMs: number): AwakeTimer {
  return { tickedAtMs: nowMs, awakeMs: 0 };
}

/**
 * Adds the time since the last tick, but at most two intervals: a longer gap was a sleeping laptop or a stalled machine,
 * on which no client could reconnect and no agent could work.
 */
export function tick(timer: AwakeTimer, nowMs: number, everyMs: number): AwakeTimer {
  const gap = Math.min(nowMs - timer.tickedAtMs, 2 * everyMs);
  return { tickedAtMs: nowMs, awakeMs: timer.awakeMs + Math.max(0, gap) };
}
