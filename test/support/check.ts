/** A broken promise. The first one ends a campaign; the runner prints the seed beside its message. */
export class Violation extends Error {
  override readonly name = "Violation";
}

export function check(holds: boolean, violation: string | (() => string)): asserts holds {
  if (!holds) throw new Violation(typeof violation === "string" ? violation : violation());
}

/** How often a state is looked at: at once in the beginning, and less often the longer it takes, for a look costs time of what is waited for. */
const LOOK_MS_MIN = 2;
const LOOK_MS_MAX = 25;
const LOOK_SHARE = 1 / 40;

/** Waits for a state that another process reaches by itself and announces to nobody. The error says what was waited for. */
export async function eventually(
  what: string,
  holds: () => boolean | Promise<boolean>,
  withinMs = 30_000,
): Promise<void> {
  const since = performance.now();
  while (!(await holds())) {
    const waitedMs = performance.now() - since;
    check(waitedMs < withinMs, `waited ${withinMs} ms for: ${what}`);
    const pauseMs = Math.min(LOOK_MS_MAX, Math.max(LOOK_MS_MIN, waitedMs * LOOK_SHARE));
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** Waits for a promise up to a deadline: a hang is a violation too, and one that would otherwise show no seed. */
export async function within<T>(what: string, waited: Promise<T>, ms = 60_000): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Violation(`waited ${ms} ms for: ${what}`)), ms);
  });
  try {
    return await Promise.race([waited, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A whole number in [0, below). */
export function whole(random: () => number, below: number): number {
  return Math.floor(random() * below);
}

export function pick<T>(random: () => number, from: readonly T[]): T {
  const picked = from[whole(random, from.length)];
  if (picked === undefined) throw new Error("nothing to pick from");
  return picked;
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
}
