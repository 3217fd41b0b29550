import { expect, test } from "vitest";
import {
  decideRestart,
  NO_ATTEMPTS,
  attemptsFromAges,
  recordStart,
  type Attempts,
  type RestartEvidence,
  type RestartPolicy,
  type RestartDecision,
} from "../../src/core/restart.ts";

const RULES = { budget: 5, windowMs: 120_000, firstWaitMs: 1_000, longestWaitMs: 60_000, healthyMs: 120_000 };
const CRASH: RestartEvidence = { exit: 1, requested: false, ranMs: 10, onHold: null, terminalLost: false };

function endOf(end: Partial<RestartEvidence>, policy: RestartPolicy, attempts = NO_ATTEMPTS): RestartDecision {
  return decideRestart(attempts, { ...CRASH, ...end }, policy, 0, 0.5, RULES).decision;
}

/** Starts and crashes until somebody has to look, or so often. */
function crashes(times: number, ranMs: number): { decisions: RestartDecision[]; attempts: Attempts } {
  let attempts = NO_ATTEMPTS;
  let now = 0;
  const decisions: RestartDecision[] = [];
  for (let n = 0; n < times; n++) {
    attempts = recordStart(attempts, now, RULES);
    now += ranMs;
    const outcome = decideRestart(attempts, { ...CRASH, ranMs }, "on-failure", now, 0.5, RULES);
    attempts = outcome.attempts;
    decisions.push(outcome.decision);
    if (outcome.decision.kind !== "restart") break;
    now += outcome.decision.inMs;
  }
  return { decisions, attempts };
}

test("an agent that exits at once is started five times, with longer and longer waits, and then a person is needed", () => {
  const { decisions } = crashes(100, 10);
  expect(decisions).toEqual([
    ...[1_000, 2_000, 4_000, 8_000].map((inMs) => ({ kind: "restart", inMs })),
    { kind: "crash-looping", reason: "started 5 times in 15 s, the last one: exit 1" },
  ]);
});

test("the reason has the last words of the program", () => {
  const attempts = { startsAtMs: [0, 1, 2, 3, 4], failures: 4 };
  const { decision } = decideRestart(attempts, { ...CRASH, lastWords: "no network" }, "always", 20_000, 0.5, RULES);
  expect(decision).toMatchObject({ reason: "started 5 times in 20 s, the last one: exit 1: no network" });
});

test("an agent that lives a minute each time never has five starts in the window, and waits no longer than the longest wait", () => {
  const { decisions } = crashes(20, 60_000);
  expect(decisions.at(-1)).toEqual({ kind: "restart", inMs: 60_000 });
});

test("a healthy spell forgets what came before it", () => {
  const { attempts } = crashes(3, 10);
  const { decision } = decideRestart(attempts, { ...CRASH, ranMs: 120_000 }, "on-failure", 200_000, 0.5, RULES);
  expect(decision).toEqual({ kind: "restart", inMs: 1_000 });
});

test("the wait is spread by a quarter to both sides", () => {
  const wait = (random: number): unknown => decideRestart(NO_ATTEMPTS, CRASH, "always", 0, random, RULES).decision;
  expect(wait(0)).toEqual({ kind: "restart", inMs: 750 });
  expect(wait(1)).toEqual({ kind: "restart", inMs: 1_250 });
});

test("what was asked to end stays down under every policy; so does what ended well, unless always", () => {
  for (const policy of ["never", "on-failure", "always"] as const) {
    expect(endOf({ requested: true }, policy)).toEqual({ kind: "none" });
  }
  expect(endOf({ exit: 0 }, "on-failure")).toEqual({ kind: "none" });
  expect(endOf({ exit: 0 }, "always").kind).toBe("restart");
  expect(endOf({ exit: 1 }, "never")).toEqual({ kind: "none" });
  expect(endOf({ exit: null }, "on-failure").kind).toBe("restart");
});

test("one that cannot do anything without a person is held at its first end, not started five times", () => {
  expect(endOf({ onHold: "not logged in" }, "always")).toEqual({ kind: "on-hold", reason: "not logged in" });
});

test("the next daemon goes on counting where the last one stopped", () => {
  const now = 1_000_000;
  const four = attemptsFromAges([100, 2_000, 5_000, 10_000], now, RULES);
  expect(four).toEqual({ startsAtMs: [now - 10_000, now - 5_000, now - 2_000, now - 100], failures: 3 });
  expect(decideRestart(four, CRASH, "always", now, 0.5, RULES).decision).toEqual({ kind: "restart", inMs: 8_000 });
  const five = attemptsFromAges([100, 2_000, 5_000, 10_000, 119_999], now, RULES);
  expect(decideRestart(five, CRASH, "always", now, 0.5, RULES).decision.kind).toBe("crash-looping");
  expect(attemptsFromAges([-5, 120_000], now, RULES)).toEqual(NO_ATTEMPTS);
});
