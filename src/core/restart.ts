// When a worker whose run has ended is started again, by nobody's hand.

export type RestartPolicy = "never" | "on-failure" | "always";

/** What is remembered of one worker while it is wanted. */
export interface Attempts {
  /** When it was started, by the monotonic clock; only those that still count. */
  startsAtMs: readonly number[];
  /** Ends in a row without a healthy spell. */
  failures: number;
}

export interface RestartRules {
  /** So many starts within the window, and a person is needed. */
  budget: number;
  windowMs: number;
  firstWaitMs: number;
  longestWaitMs: number;
  /** A run that lived so long was well: what came before it is forgotten. */
  healthyMs: number;
}

/** How a run ended, as far as starting it again is concerned. */
export interface End {
  exit: number | null;
  /** Somebody wanted it to end: it was stopped, or its name was taken. */
  asked: boolean;
  ranMs: number;
  /** Its terminal was taken from under it: whatever code that led to, it did not end by itself. */
  hungUp: boolean;
  /** Why a person is needed before it can do anything: no login, no budget. */
  onHold: string | null;
}

export type Verdict =
  | { kind: "leave" }
  | { kind: "again"; inMs: number }
  | { kind: "crash-looping"; reason: string }
  | { kind: "on-hold"; reason: string };

export const NO_ATTEMPTS: Attempts = { startsAtMs: [], failures: 0 };

export function started(attempts: Attempts, nowMs: number, { windowMs }: RestartRules): Attempts {
  return { ...attempts, startsAtMs: [...within(attempts, nowMs, windowMs), nowMs] };
}

/** What a daemon before this one counted, by how long ago each of those starts was, the last one first. */
export function recounted(agesMs: readonly number[], nowMs: number, { windowMs }: RestartRules): Attempts {
  // A wall clock that went back says nothing about how long ago it was.
  const counted = agesMs.filter((age) => age >= 0 && age < windowMs);
  return { startsAtMs: counted.map((age) => nowMs - age).toReversed(), failures: Math.max(0, counted.length - 1) };
}

/** `random` is between 0 and 1: a fleet that fell together does not come back all at once. */
export function afterEnd(
  attempts: Attempts,
  end: End,
  policy: RestartPolicy,
  nowMs: number,
  random: number,
  rules: RestartRules,
): { attempts: Attempts; verdict: Verdict } {
  if (end.asked) return { attempts: NO_ATTEMPTS, verdict: { kind: "leave" } };
  if (end.onHold !== null) return { attempts: NO_ATTEMPTS, verdict: { kind: "on-hold", reason: end.onHold } };
  const failed = end.exit !== 0 || end.hungUp;
  if (policy === "never" || (policy === "on-failure" && !failed)) {
    return { attempts: NO_ATTEMPTS, verdict: { kind: "leave" } };
  }
  const healthy = end.ranMs >= rules.healthyMs;
  const startsAtMs = healthy ? [] : within(attempts, nowMs, rules.windowMs);
  const failures = healthy ? 1 : attempts.failures + 1;
  const next = { startsAtMs, failures };
  if (startsAtMs.length >= rules.budget) {
    const code = end.exit === null ? "killed" : `exit ${end.exit}`;
    const reason = `started ${startsAtMs.length} times in ${rules.windowMs / 1000} s, the last one: ${code}`;
    return { attempts: next, verdict: { kind: "crash-looping", reason } };
  }
  const waitMs = Math.min(rules.longestWaitMs, rules.firstWaitMs * 2 ** (failures - 1));
  return { attempts: next, verdict: { kind: "again", inMs: waitMs * (0.75 + random / 2) } };
}

function within({ startsAtMs }: Attempts, nowMs: number, windowMs: number): number[] {
  return startsAtMs.filter((at) => nowMs - at < windowMs);
}
