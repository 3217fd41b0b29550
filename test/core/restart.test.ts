import { expect, test } from "vitest";
import {
  afterEnd,
  NO_ATTEMPTS,
  recounted,
  started,
  type Attempts,
  type End,
  type RestartPolicy,
  type Verdict,
} from "../../src/core/restart.ts";

const RULES = { budget: 5, windowMs: 120_000, firstWaitMs: 1_000, longestWaitMs: 60_000, healthyMs: 120_000 };
const CRASH: End = { exit: 1, asked: false, ranMs: 10, onHold: null, hungUp: false };

function endOf(end: Partial<End>, policy: RestartPolicy, attempts = NO_ATTEMPTS): Verdict {
  return afterEnd(attempts, { ...CRASH, ...end }, policy, 0, 0.5, RULES).verdict;
}

/** Starts and crashes until somebody has to look, or so often. */
function crashes(times: number, ranMs: number): { verdicts: Verdict[]; attempts: Attempts } {
  let attempts = NO_ATTEMPTS;
  let now = 0;
  const verdicts: Verdict[] = [];
  for (let n = 0; n < times; n++) {
    attempts = started(attempts, now, RULES);
    now += ranMs;
    const after = afterEnd(attempts, { ...CRASH, ranMs }, "on-failure", now, 0.5, RULES);
    attempts = after.attempts;
    verdicts.push(after.verdict);
    if (after.verdict.kind !== "again") break;
    now += after.verdict.inMs;
  }
  return { verdicts, attempts };
}

test("an agent that exits at once is started five times, with longer and longer waits, and then a person is needed", () => {
  const { verdicts } = crashes(100, 10);
  expect(verdicts).toEqual([
    ...[1_000, 2_000, 4_000, 8_000].map((inMs) => ({ kind: "again", inMs })),
    { kind: "crash-looping", reason: "started 5 times in 120 s, the last one: exit 1" },
  ]);
});

test("an agent that lives a minute each time never has five starts in the window, and waits no longer than the longest wait", () => {
  const { verdicts } = crashes(20, 60_000);
  expect(verdicts.at(-1)).toEqual({ kind: "again", inMs: 60_000 });
});

test("a healthy spell forgets what came before it", () => {
  const { attempts } = crashes(3, 10);
  const { verdict } = afterEnd(attempts, { ...CRASH, ranMs: 120_000 }, "on-failure", 200_000, 0.5, RULES);
  expect(verdict).toEqual({ kind: "again", inMs: 1_000 });
});

test("the wait is spread by a quarter to both sides", () => {
  const wait = (random: number): unknown => afterEnd(NO_ATTEMPTS, CRASH, "always", 0, random, RULES).verdict;
  expect(wait(0)).toEqual({ kind: "again", inMs: 750 });
  expect(wait(1)).toEqual({ kind: "again", inMs: 1_250 });
});

test("what was asked to end stays down under every policy; so does what ended well, unless always", () => {
  for (const policy of ["never", "on-failure", "always"] as const) {
    expect(endOf({ asked: true }, policy)).toEqual({ kind: "leave" });
  }
  expect(endOf({ exit: 0 }, "on-failure")).toEqual({ kind: "leave" });
  expect(endOf({ exit: 0 }, "always").kind).toBe("again");
  expect(endOf({ exit: 1 }, "never")).toEqual({ kind: "leave" });
  expect(endOf({ exit: null }, "on-failure").kind).toBe("again");
});

test("one that cannot do anything without a person is held at its first end, not started five times", () => {
  expect(endOf({ onHold: "not logged in" }, "always")).toEqual({ kind: "on-hold", reason: "not logged in" });
});

test("the next daemon goes on counting where the last one stopped", () => {
  const now = 1_000_000;
  const four = recounted([100, 2_000, 5_000, 10_000], now, RULES);
  expect(four).toEqual({ startsAtMs: [now - 10_000, now - 5_000, now - 2_000, now - 100], failures: 3 });
  expect(afterEnd(four, CRASH, "always", now, 0.5, RULES).verdict).toEqual({ kind: "again", inMs: 8_000 });
  const five = recounted([100, 2_000, 5_000, 10_000, 119_999], now, RULES);
  expect(afterEnd(five, CRASH, "always", now, 0.5, RULES).verdict.kind).toBe("crash-looping");
  expect(recounted([-5, 120_000], now, RULES)).toEqual(NO_ATTEMPTS);
});
