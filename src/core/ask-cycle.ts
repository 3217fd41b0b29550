// Asks whose senders wait for each other would wait for ever.

/** An ask whose sender waits for the answer. `from` and `to` are ids of workers, or null for the operator. */
export interface WaitingAsk {
  ask: string;
  from: number | null;
  to: number | null;
}

/**
 * Returns the open ask that a new ask from `from` to `to` would close a cycle with: its sender waits, directly or through
 * others, for `from`. Null when the new ask would make nobody wait for ever.
 */
export function findWaitCycle(
  from: number | null,
  to: number | null,
  waiting: Iterable<WaitingAsk>,
): WaitingAsk | null {
  const open = [...waiting];
  const visited = new Set<number | null>([to]);
  const queue: { at: number | null; first: WaitingAsk | null }[] = [{ at: to, first: null }];
  for (let next = queue.shift(); next; next = queue.shift()) {
    for (const each of open) {
      if (each.from !== next.at) continue;
      const first = next.first ?? each;
      if (each.to === from) return first;
      if (visited.has(each.to)) continue;
      visited.add(each.to);
      queue.push({ at: each.to, first });
    }
  }
  return null;
}
