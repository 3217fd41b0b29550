import { describe, expect, test } from "vitest";
import {
  isWorthReporting,
  afterScreen,
  afterTitle,
  afterSign,
  UNKNOWN,
  type Attention,
} from "../../src/core/attention.ts";
import type { BlockedReason, Outward } from "../../src/protocol/records/conversation.ts";

const SETTLE_MS = 1_000;

type Step = { told: Outward } | { title: Outward } | { screen: BlockedReason | null };

/** Each step a while after the one before. */
function after(steps: readonly Step[], everyMs = 2 * SETTLE_MS): Attention {
  return steps.reduce((state, step, at) => {
    const nowMs = at * everyMs;
    if ("told" in step) return afterSign(state, step.told, nowMs);
    if ("title" in step) return afterTitle(state, step.title, { nowMs, settleMs: SETTLE_MS });
    return afterScreen(state, step.screen);
  }, UNKNOWN);
}

const idle: Outward = { activity: "idle" };
const busy: Outward = { activity: "busy" };
const asks: Outward = { activity: "blocked", blocked: "permission" };
const waits: Outward = { activity: "blocked" };

const CASES: [string, Step[], Partial<Attention>][] = [
  ["what it tells counts", [{ told: asks }], { activity: "blocked", reason: "permission" }],
  ["what it tells later counts more", [{ told: asks }, { told: busy }], { activity: "busy", reason: null }],
  [
    "a reason is not taken back by less",
    [{ told: asks }, { told: waits }],
    { activity: "blocked", reason: "permission" },
  ],
  ["a title tells of one that says nothing itself", [{ title: busy }, { title: idle }], { activity: "idle" }],
  ["a title that looks like nothing is no news at first", [{ title: idle }], { activity: null }],
  ["a title tells of a question", [{ told: busy }, { title: asks }], { activity: "blocked", reason: "permission" }],
  ["a title that works ends a question", [{ told: asks }, { title: busy }], { activity: "busy", reason: null }],
  ["a title that is idle does not end it", [{ told: asks }, { title: idle }], { activity: "blocked" }],
  ["its own question was in the title only", [{ told: busy }, { title: asks }, { title: idle }], { activity: "idle" }],
  ["a title does not contradict a turn", [{ told: busy }, { title: idle }], { activity: "busy" }],
  ["nor the end of one", [{ told: idle }, { title: busy }], { activity: "idle" }],
  ["a dialog counts while nothing else is known", [{ screen: "trust" }], { activity: "blocked", reason: "trust" }],
  ["a dialog that is gone is over", [{ screen: "trust" }, { screen: null }], { activity: null, reason: null }],
  ["a dialog with an idle title", [{ screen: "login" }, { title: idle }], { activity: "blocked", reason: "login" }],
  ["one that says it is idle may have one in front", [{ told: idle }, { screen: "trust" }], { reason: "trust" }],
  ["and says so while it is there", [{ screen: "trust" }, { told: idle }], { activity: "blocked", reason: "trust" }],
  ["another dialog comes after it", [{ screen: "trust" }, { screen: "login" }], { reason: "login" }],
  ["a turn ends a dialog", [{ screen: "trust" }, { told: busy }], { activity: "busy", reason: null }],
  ["after a turn no dialog is one", [{ told: busy }, { told: idle }, { screen: "trust" }], { activity: "idle" }],
  [
    "nor after one that the title told of",
    [{ title: busy }, { title: idle }, { screen: "login" }],
    { activity: "idle" },
  ],
  ["a dialog says what it waits for", [{ told: waits }, { screen: "question" }], { reason: "question" }],
  ["but not against it", [{ told: asks }, { screen: "question" }], { reason: "permission" }],
];

describe("several sources of attention", () => {
  test.each(CASES)("%s", (_, steps, expected) => {
    expect(after(steps)).toMatchObject(expected);
  });

  test("a title that is older than the program's own report is ignored", () => {
    expect(after([{ told: asks }, { title: busy }], SETTLE_MS / 2).activity).toBe("blocked");
    expect(after([{ told: idle }, { title: asks }], SETTLE_MS / 2).activity).toBe("idle");
  });
});

test("turns are no news; a question, another one and its end are", () => {
  const states = [idle, busy, idle, asks, { activity: "blocked", blocked: "question" } as const, busy, idle];
  const seenStates = states.map((state) => afterSign(UNKNOWN, state, 0));
  const news = seenStates.map((state, at) => isWorthReporting(seenStates[at - 1] ?? UNKNOWN, state));
  expect(news).toEqual([false, false, false, true, true, true, false]);
});
