import { assert, integer, property } from "fast-check";
import { expect, test } from "vitest";
import {
  afterLook,
  dueInMs,
  isUndecided,
  quietForMs,
  told,
  type Need,
  type Notice,
  type NoticePolicy,
} from "../../src/core/notices.ts";
import { LOOK_AGAIN_MS, MAIL_NOTICE_EVERY_MS } from "../../src/limits/index.ts";
import { NEED_KINDS } from "../../src/protocol/records/needs.ts";

const POLICY: NoticePolicy = { on: NEED_KINDS, afterMs: 20_000, quiet: null };
const ASKS: Need = { kind: "blocked", reason: "asks for permission" };
const NOON = 12 * 60;

function noticed(need: Need, atMs = 0): Notice {
  const { notice } = afterLook(null, need, { wallMs: atMs, monotonicMs: atMs });
  if (notice === null) throw new Error("nothing was noticed");
  return notice;
}

function look(before: Notice | null, need: Need | null, atMs = 1_000): ReturnType<typeof afterLook> {
  return afterLook(before, need, { wallMs: atMs, monotonicMs: atMs });
}

function dueAt(
  notice: Notice,
  atMs: number,
  more: { policy?: Partial<NoticePolicy>; looks?: boolean; minute?: number } = {},
): number | null {
  const { policy = {}, looks = false, minute = NOON } = more;
  return dueInMs(notice, { ...POLICY, ...policy }, { monotonicMs: atMs, minuteOfDay: minute, isLookedAt: looks });
}

test("somebody is told once the need has lasted, and once only", () => {
  const notice = noticed(ASKS);
  expect([dueAt(notice, 0), dueAt(notice, 19_999), dueAt(notice, 20_000), dueAt(notice, 90_000)]).toEqual([
    20_000, 1, 0, 0,
  ]);
  expect(dueAt(told(notice, 20_000), 90_000)).toBe(null);
  expect(look(told(notice, 20_000), ASKS)).toEqual({ notice: told(notice, 20_000), wentOn: null });
});

test("what went on is told of those that somebody was told of, and the next need is a new one", () => {
  const notice = noticed(ASKS);
  expect(look(notice, null)).toEqual({ notice: null, wentOn: null });
  expect(look(told(notice, 1), null)).toEqual({ notice: null, wentOn: told(notice, 1) });
  expect(dueAt(noticed(ASKS, 5_000), 5_000)).toBe(20_000);
});

test("another reason is another notice, but one that only becomes known is not", () => {
  const unknown = noticed({ kind: "blocked", reason: null });
  const known = look(told(unknown, 1), ASKS).notice;
  expect(known).toMatchObject({ reason: "asks for permission", isTold: true });
  expect(look(known, { kind: "blocked", reason: null }).notice).toBe(known);
  const login = look(known, { kind: "blocked", reason: "asks for a login" }).notice;
  expect(login).toMatchObject({ reason: "asks for a login", isTold: false, noticedAtMs: 1_000 });
  // It is waited for since the first of them, as long as nobody was told.
  expect(look(noticed(ASKS), { kind: "blocked", reason: "asks for a login" }).notice?.noticedAtMs).toBe(0);
});

test("nobody is told of what they look at, until they look elsewhere", () => {
  const notice = noticed(ASKS);
  expect(dueAt(notice, 30_000, { looks: true })).toBe(LOOK_AGAIN_MS);
  expect(dueAt(notice, 30_000 + LOOK_AGAIN_MS)).toBe(0);
});

test("nobody is told of what they did not ask for", () => {
  expect(dueAt(noticed(ASKS), 90_000, { policy: { on: ["mail"] } })).toBe(null);
});

test("quiet hours go over midnight, and what still stands at their end is told", () => {
  const night = { from: 22 * 60, to: 7 * 60 };
  const notice = noticed(ASKS);
  expect(dueAt(notice, 90_000, { policy: { quiet: night }, minute: 6 * 60 + 59 })).toBe(60_000);
  expect(dueAt(notice, 90_000, { policy: { quiet: night }, minute: 7 * 60 })).toBe(0);
  expect(dueAt(notice, 90_000, { policy: { quiet: night }, minute: 21 * 60 + 59 })).toBe(0);
  // Not longer than a clock can be trusted.
  expect(dueAt(notice, 90_000, { policy: { quiet: night }, minute: 23 * 60 })).toBe(3_600_000);
});

test("quiet hours are those minutes and no others, whichever they are", () => {
  const minute = integer({ min: 0, max: 1439 });
  assert(
    property(minute, minute, minute, (from, to, at) => {
      const minutes = (to - from + 1440) % 1440;
      const isQuiet = (at - from + 1440) % 1440 < minutes;
      expect(quietForMs({ from, to }, at) > 0).toBe(isQuiet);
    }),
  );
});

test("mail of one worker is told at most once a minute, with all that came meanwhile", () => {
  const first = told(noticed({ kind: "mail", reason: "1 unread message: a1" }), 0);
  const more = look(first, { kind: "mail", reason: "2 unread messages, the last one is b2" }, 5_000).notice;
  if (more === null) throw new Error("nothing was noticed");
  expect(dueAt(more, 25_000)).toBe(MAIL_NOTICE_EVERY_MS - 25_000);
  const most = look(more, { kind: "mail", reason: "3 unread messages, the last one is c3" }, 6_000).notice;
  expect(most).toMatchObject({ noticedAtMs: 5_000, isTold: false, reason: expect.stringContaining("c3") as string });
  expect(dueAt(more, MAIL_NOTICE_EVERY_MS)).toBe(0);
});

test("reading mail goes on silently, and does not shorten the minute", () => {
  const first = told(noticed({ kind: "mail", reason: "2 unread messages, the last one is b2" }), 0);
  // One of the two was read: nothing new has come.
  expect(look(first, { kind: "mail", reason: "1 unread message: b2" }).notice?.isTold).toBe(true);
  const read = look(first, null, 2_000);
  expect(read.wentOn).toBe(null);
  const next = look(read.notice, { kind: "mail", reason: "1 unread message: c3" }, 3_000).notice;
  expect(next && dueAt(next, 23_000)).toBe(MAIL_NOTICE_EVERY_MS - 23_000);
  expect(look(first, null, MAIL_NOTICE_EVERY_MS).notice).toBe(null);
});

test("a worker of which nothing is known yet has not gone on", () => {
  expect(isUndecided("blocked", "running")).toBe(true);
  expect(isUndecided("on-hold", "starting")).toBe(true);
  expect(isUndecided("on-hold", "running")).toBe(false);
  expect(isUndecided("blocked", "idle")).toBe(false);
});
