import * as fc from "fast-check";
import { expect, test } from "vitest";
import { startTimer, tick } from "../../src/core/awake-timer.ts";
import { nextEpoch } from "../../src/core/epoch.ts";
import { endReason } from "../../src/core/run-end.ts";
import { startHangTimer, hungForMs, tickHangTimer } from "../../src/core/hang.ts";

test("an epoch is the second it was given out in", () => {
  expect(nextEpoch(1_718_400_000_999, null, 0)).toBe(1_718_400_000);
  expect(nextEpoch(1_718_400_000_999, 1_718_399_000, 0)).toBe(1_718_400_000);
});

test("an epoch never repeats, whatever the clock does", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 4_000_000_000_000 }), { maxLength: 50 }),
      fc.nat(),
      (clock, floor) => {
        let last: number | null = null;
        for (const now of clock) {
          const epoch: number = nextEpoch(now, last, floor);
          expect(epoch).toBeGreaterThan(last ?? floor);
          last = epoch;
        }
      },
    ),
  );
});

test("the time a client is away adds up, look by look", () => {
  let absence = startTimer(0);
  for (let now = 100; now <= 1000; now += 100) absence = tick(absence, now, 100);
  expect(absence).toEqual({ tickedAtMs: 1000, awakeMs: 1000 });
});

test("a laptop that slept for a week, twice, was awake for hardly any of it", () => {
  const week = 7 * 24 * 3_600_000;
  const woken = tick(tick(startTimer(0), week, 100), 2 * week, 100);
  expect(woken.awakeMs).toBeLessThanOrEqual(400);
});

test("a clock that steps back takes nothing away", () => {
  expect(tick({ tickedAtMs: 500, awakeMs: 70 }, 400, 100)).toEqual({ tickedAtMs: 400, awakeMs: 70 });
});

const plain = { exit: null, displaced: false, stopped: false, how: "ended" as const, client: false, rebooted: false };

test.each([
  [{ ...plain, exit: 0 }, "exited"],
  [{ ...plain, exit: 1 }, "exited"],
  [{ ...plain, exit: 128 }, "exited"],
  [{ ...plain, exit: 129 }, "SIGHUP"],
  [{ ...plain, exit: 137 }, "SIGKILL"],
  [{ ...plain, exit: 143 }, "SIGTERM"],
  [{ ...plain, exit: 255 }, "exited"],
  [plain, "killed"],
  [{ ...plain, rebooted: true }, "rebooted"],
  [{ ...plain, exit: 0, rebooted: true }, "exited"],
  [{ ...plain, how: "released" as const }, "released"],
  [{ ...plain, how: "expired" as const }, "expired"],
  [{ ...plain, client: true }, "gone"],
  [{ ...plain, exit: 143, displaced: true }, "displaced"],
])("the end with %o is called %s", (evidence, reason) => {
  expect(endReason(evidence)).toBe(reason);
});

const SILENCE = { everyMs: 100, hungAfterMs: 1_000 };

test("an agent at work without a sign is flagged in time; any sign, or a question, restarts the count", () => {
  let silence = startHangTimer("a", 0);
  for (let now = 100; now < 1_000; now += 100) silence = tickHangTimer(silence, true, "a", now, SILENCE);
  expect(hungForMs(silence, SILENCE)).toBe(null);
  expect(hungForMs(tickHangTimer(silence, true, "a", 1_000, SILENCE), SILENCE)).toBe(1_000);
  expect(hungForMs(tickHangTimer(silence, true, "b", 1_000, SILENCE), SILENCE)).toBe(null);
  expect(hungForMs(tickHangTimer(silence, false, "a", 1_000, SILENCE), SILENCE)).toBe(null);
});

test("a night's sleep is no silence", () => {
  const woken = tickHangTimer(startHangTimer("a", 0), true, "a", 8 * 3_600_000, SILENCE);
  expect(hungForMs(woken, SILENCE)).toBe(null);
});
