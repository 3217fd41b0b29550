// Decides whether, and when, a worker whose run has ended is restarted automatically.

export type RestartPolicy = "never" | "on-failure" | "always";

/** The recent starts and failures of one worker while it is desired. */
export interface Attempts {
  /** Monotonic times of the starts that still count. */
  startsAtMs: readonly number[];
  /** Consecutive ends without a healthy run in between. */
  failures: number;
}

export interface RestartRules {
  /** The number of starts within the window after which a person is needed. */
  budget: number;
  windowMs: number;
  firstWaitMs: number;
  longestWaitMs: number;
  /** A run that lived this long was healthy, and clears the failures before it. */
  healthyMs: number;
}

/** How a run ended, as far as its restart is concerned. */
export interface RestartEvidence {
  exit: number | null;
  /** Somebody ended the run: it was stopped, or its name was taken over. */
  requested: boolean;
  ranMs: number;
  /** The run lost its terminal, so it did not end by itself, whatever its exit code says. */
  terminalLost: boolean;
  /** Why a person is needed before the worker can do anything: no login, a used-up limit. */
  onHold: string | null;
  /** The words with which the program ended; left out where it had none, or nobody saw them. */
  lastWords?: string;
}

export type RestartDecision =
  | { kind: "none" }
  | { kind: "restart"; inMs: number }
  | { kind: "crash-looping"; reason: string }
  | { kind: "on-hold"; reason: string };

export const NO_ATTEMPTS: Attempts = { startsAtMs: [], failures: 0 };

export function recordStart(attempts: Attempts, nowMs: number, { windowMs }: RestartRules): Attempts {
  return { ...attempts, startsAtMs: [...startsWithin(attempts, nowMs, windowMs), nowMs] };
}

/** Rebuilds the attempts that an earlier daemon counted from the ages of those starts, the latest first. */
export function attemptsFromAges(agesMs: readonly number[], nowMs: number, { windowMs }: RestartRules): Attempts {
  // The wall clock may have been set back: such an age means nothing.
  const counted = agesMs.filter((age) => age >= 0 && age < windowMs);
  return { startsAtMs: counted.map((age) => nowMs - age).toReversed(), failures: Math.max(0, counted.length - 1) };
}

/** Decides what follows the end of a run. `random`, in 0..1, spreads the restarts of a fleet that fell together. */
export function decideRestart(
  attempts: Attempts,
  end: RestartEvidence,
  policy: RestartPolicy,
  nowMs: number,
  random: number,
  rules: RestartRules,
): { attempts: Attempts; decision: RestartDecision } {
  if (end.requested) return { attempts: NO_ATTEMPTS, decision: { kind: "none" } };
  if (end.onHold !== null) return { attempts: NO_ATTEMPTS, decision: { kind: "on-hold", reason: end.onHold } };
  const failed = end.exit !== 0 || end.terminalLost;
  if (policy === "never" || (policy === "on-failure" && !failed)) {
    return { attempts: NO_ATTEMPTS, decision: { kind: "none" } };
  }
  const healthy = end.ranMs >= rules.healthyMs;
  const startsAtMs = healthy ? [] : startsWithin(attempts, nowMs, rules.windowMs);
  const failures = healthy ? 1 : attempts.failures + 1;
  const next = { startsAtMs, failures };
  if (startsAtMs.length >= rules.budget) {
    const code = end.exit === null ? "killed" : `exit ${end.exit}`;
    const words = end.lastWords === undefined ? "" : `: ${end.lastWords}`;
    const seconds = Math.max(1, Math.round((nowMs - (startsAtMs[0] ?? nowMs)) / 1000));
    const reason = `started ${startsAtMs.length} times in ${seconds} s, the last one: ${code}${words}`;
    return { attempts: next, decision: { kind: "crash-looping", reason } };
  }
  const waitMs = Math.min(rules.longestWaitMs, rules.firstWaitMs * 2 ** (failures - 1));
  return { attempts: next, decision: { kind: "restart", inMs: waitMs * (0.75 + random / 2) } };
}

function startsWithin({ startsAtMs }: Attempts, nowMs: number, windowMs: number): number[] {
  return startsAtMs.filter((at) => nowMs - at < windowMs);
}
