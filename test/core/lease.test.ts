import * as fc from "fast-check";
import { expect, test } from "vitest";
import { claim, displace, ended, standing, type ClaimDecision, type LeaseState } from "../../src/core/lease.ts";

const free: LeaseState = { phase: "free", generation: 4 };
const held: LeaseState = { phase: "held", generation: 5, run: "r5" };
const displacing: LeaseState = { phase: "displacing", generation: 6, run: "r5" };

test("a free name is granted with the next generation", () => {
  expect(claim(free, "r5", false)).toEqual({ granted: true, lease: held, replaced: null });
});

test("a live holder keeps the name; a dead one is replaced at once", () => {
  expect(claim(held, "r6", true)).toEqual({ granted: false, because: "held", run: "r5" });
  expect(claim(held, "r6", false)).toEqual({
    granted: true,
    lease: { phase: "held", generation: 6, run: "r6" },
    replaced: "r5",
  });
});

test("while a run is being displaced nobody can claim, until it is gone", () => {
  expect(claim(displacing, "r7", true)).toEqual({ granted: false, because: "displacing", run: "r5" });
  expect(claim(displacing, "r7", false)).toMatchObject({ granted: true, lease: { generation: 7 } });
});

test("displacing fences the holder at once, and doing it twice changes nothing", () => {
  expect(displace(held)).toEqual(displacing);
  expect(displace(displacing)).toEqual(displacing);
  expect(displace(free)).toEqual(free);
  expect(standing(displacing, "r5", 5)).toBe("displaced");
});

test("only the run that holds the lease can end it", () => {
  expect(ended(held, "r5")).toEqual({ phase: "free", generation: 5 });
  expect(ended(displacing, "r5")).toEqual({ phase: "free", generation: 6 });
  expect(ended(held, "r4")).toEqual(held);
  expect(ended(free, "r4")).toEqual(free);
});

test("a writer is current with exactly its run and generation", () => {
  expect(standing(held, "r5", 5)).toBe("current");
  expect(standing(held, "r5", 4)).toBe("stale");
  expect(standing(held, "r5", 6)).toBe("stale");
  expect(standing(held, "r4", 5)).toBe("stale");
  expect(standing(free, "r4", 4)).toBe("stale");
});

test("in any history generations only rise, and no run that lost its name is ever current again", () => {
  const step = fc.record({ act: fc.constantFrom("claim", "displace", "end"), alive: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      let lease: LeaseState = { phase: "free", generation: 0 };
      const granted: { run: string; generation: number }[] = [];
      for (const [i, { act, alive }] of steps.entries()) {
        const before = lease.generation;
        const decision: ClaimDecision | null = act === "claim" ? claim(lease, `r${i}`, alive) : null;
        if (decision?.granted) {
          lease = decision.lease;
          granted.push({ run: `r${i}`, generation: lease.generation });
        }
        if (act === "displace") lease = displace(lease);
        if (act === "end" && lease.phase !== "free") lease = ended(lease, lease.run);
        expect(lease.generation).toBeGreaterThanOrEqual(decision?.granted ? before + 1 : before);
        const now = lease;
        const current = granted.filter(({ run, generation }) => standing(now, run, generation) === "current");
        expect(current).toEqual(now.phase === "held" ? granted.slice(-1) : []);
      }
    }),
  );
});
