import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  claimLease,
  displaceLease,
  endLease,
  leaseStanding,
  type ClaimDecision,
  type LeaseState,
  hasClientLeaseExpired,
} from "../../src/core/lease.ts";

const free: LeaseState = { phase: "free", generation: 4 };
const held: LeaseState = { phase: "held", generation: 5, run: "r5" };
const displacing: LeaseState = { phase: "displacing", generation: 6, run: "r5" };

test("a free name is granted with the next generation", () => {
  expect(claimLease(free, "r5", false)).toEqual({ granted: true, lease: held, replaced: null });
});

test("a live holder keeps the name; a dead one is replaced at once", () => {
  expect(claimLease(held, "r6", true)).toEqual({ granted: false, because: "held", run: "r5" });
  expect(claimLease(held, "r6", false)).toEqual({
    granted: true,
    lease: { phase: "held", generation: 6, run: "r6" },
    replaced: "r5",
  });
});

test("while a run is being displaced nobody can claim, until it is gone", () => {
  expect(claimLease(displacing, "r7", true)).toEqual({ granted: false, because: "displacing", run: "r5" });
  expect(claimLease(displacing, "r7", false)).toMatchObject({ granted: true, lease: { generation: 7 } });
});

test("displacing fences the holder at once, and doing it twice changes nothing", () => {
  expect(displaceLease(held)).toEqual(displacing);
  expect(displaceLease(displacing)).toEqual(displacing);
  expect(displaceLease(free)).toEqual(free);
  expect(leaseStanding(displacing, "r5", 5)).toBe("displaced");
});

test("only the run that holds the lease can end it", () => {
  expect(endLease(held, "r5")).toEqual({ phase: "free", generation: 5 });
  expect(endLease(displacing, "r5")).toEqual({ phase: "free", generation: 6 });
  expect(endLease(held, "r4")).toEqual(held);
  expect(endLease(free, "r4")).toEqual(free);
});

test("a writer is current with exactly its run and generation", () => {
  expect(leaseStanding(held, "r5", 5)).toBe("current");
  expect(leaseStanding(held, "r5", 4)).toBe("stale");
  expect(leaseStanding(held, "r5", 6)).toBe("stale");
  expect(leaseStanding(held, "r4", 5)).toBe("stale");
  expect(leaseStanding(free, "r4", 4)).toBe("stale");
});

test("in any history generations only rise, and no run that lost its name is ever current again", () => {
  const step = fc.record({ act: fc.constantFrom("claim", "displace", "end"), alive: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      let lease: LeaseState = { phase: "free", generation: 0 };
      const granted: { run: string; generation: number }[] = [];
      for (const [i, { act, alive }] of steps.entries()) {
        const before = lease.generation;
        const decision: ClaimDecision | null = act === "claim" ? claimLease(lease, `r${i}`, alive) : null;
        if (decision?.granted) {
          lease = decision.lease;
          granted.push({ run: `r${i}`, generation: lease.generation });
        }
        if (act === "displace") lease = displaceLease(lease);
        if (act === "end" && lease.phase !== "free") lease = endLease(lease, lease.run);
        expect(lease.generation).toBeGreaterThanOrEqual(decision?.granted ? before + 1 : before);
        const now = lease;
        const current = granted.filter(({ run, generation }) => leaseStanding(now, run, generation) === "current");
        expect(current).toEqual(now.phase === "held" ? granted.slice(-1) : []);
      }
    }),
  );
});

test("a client's lease expires after two waits of awake time, not after one", () => {
  expect(hasClientLeaseExpired({ tickedAtMs: 0, awakeMs: 29_999 }, 15_000)).toBe(false);
  expect(hasClientLeaseExpired({ tickedAtMs: 0, awakeMs: 30_000 }, 15_000)).toBe(true);
});
