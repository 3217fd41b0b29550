import { describe, expect, test } from "vitest";
import {
  isWorthReporting,
  afterScreen,
  afterTitle,
  afterSign,
  holdReason,
  UNKNOWN,
  type Attention,
} from "../../src/core/attention.ts";
import type { BlockedReason, Outward } from "../../src/protocol/records/conversation.ts";

const SETTLE_MS = 1_000;

type Step = { told: Outward } | { title: Outward } | { screen: BlockedReason | null } | { error: "login" | "limit" };

/** Each step a while after the one before. */
function after(steps: readonly Step[], everyMs = 2 * SETTLE_MS): Attention {
  return steps.reduce((state, step, at) => {
    const nowMs = at * everyMs;
    if ("told" in step) return afterSign(state, step.told, nowMs);
    if ("title" in step) return afterTitle(state, step.title, { nowMs, settleMs: SETTLE_MS });
    if ("error" in step) return afterScreen(state, { error: step.error, words: "✕ 401" });
    return afterScreen(state, step.screen && { dialog: step.screen });
  }, UNKNOWN);
}

const idle: Outward = { activity: "idle" };
const busy: Outward = { activity: "busy" };
const asks: Outward = { activity: "blocked", blocked: "permission" };
const waits: Outward = { activity: "blocked" };
const failed: Outward = { activity: "blocked", blocked: "login", words: "■ 401" };

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
  [
    "C2: a turn that failed has ended, and the next one shows what is over",
    [{ told: busy }, { told: failed }, { told: idle }, { title: idle }],
    { activity: "blocked", reason: "login", words: "■ 401" },
  ],
  [
    "C2: the next turn clears it",
    [{ told: failed }, { told: busy }, { told: idle }],
    { activity: "idle", reason: null, words: null },
  ],
  [
    "C2: an error on the screen counts at the end of a turn",
    [{ told: busy }, { told: idle }, { error: "limit" }, { told: idle }],
    { activity: "blocked", reason: "limit", words: "✕ 401" },
  ],
  [
    "C2: and is over when the screen shows it no more",
    [{ told: busy }, { told: idle }, { error: "limit" }, { screen: null }],
    { activity: "idle", reason: null, words: null },
  ],
  ["C2: while a turn goes on it is being retried", [{ told: busy }, { error: "limit" }], { activity: "busy" }],
  ["C2: before the first turn it is history", [{ told: idle }, { error: "login" }], { activity: "idle" }],
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

test("an agent whose turn failed by a login or a limit is held, also if neither it nor its screen has words for it", () => {
  const failedBy = (blocked: BlockedReason, words?: string): Attention =>
    after([{ told: busy }, { told: { activity: "blocked", blocked, words } }]);
  expect(holdReason(failedBy("login", "Not logged in"), "401")).toBe("Not logged in");
  expect(holdReason(failedBy("login"), "401")).toBe("401");
  expect(holdReason(failedBy("login"), null)).toBe("it has no valid login");
  expect(holdReason(failedBy("limit"), null)).toBe("its limit is used up");
  expect(holdReason(failedBy("permission"), null)).toBeNull();
  expect(holdReason(null, "401")).toBe("401");
});
