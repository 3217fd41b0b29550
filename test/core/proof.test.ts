import * as fc from "fast-check";
import { expect, test } from "vitest";
import { awaitsConfirmation, observe, type ProofFinding, type ProofState } from "../../src/core/proof.ts";

test.each([
  ["pending", "a", "proved"],
  ["pending", "b", "mismatch"],
  [true, "a", "known"],
  [true, "b", "rotated"],
  [false, "a", "proved"],
  [false, "b", "known"],
] as const)("a run in a that is proved: %s shows %s: %s", (proved, session, kind) => {
  expect(observe({ session: "a", proved }, session)).toEqual({ kind });
});

/** Applies the consequence of a finding to the state of a run. */
function follow(standing: ProofState, session: string, { kind }: ProofFinding): ProofState {
  if (kind === "known") return standing;
  if (kind === "mismatch") return { ...standing, proved: false };
  return { session, proved: true };
}

const signs = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 30 });

/** A run that begins in a, and each of its steps. */
function lifeOf(
  sessions: string[],
): { was: ProofState; session: string; kind: ProofFinding["kind"]; now: ProofState }[] {
  let was: ProofState = { session: "a", proved: "pending" };
  return sessions.map((session) => {
    const finding = observe(was, session);
    const step = { was, session, kind: finding.kind, now: follow(was, session, finding) };
    was = step.now;
    return step;
  });
}

test("in any history: a mismatch changes nothing that is bound, and only a proved run rotates", () => {
  fc.assert(
    fc.property(signs, (sessions) => {
      const life = lifeOf(sessions);
      const moved = life.filter(({ was, now }) => was.session !== now.session);
      expect(moved.filter(({ was, kind }) => was.proved !== true || kind !== "rotated")).toEqual([]);
      const rotated = life.filter(({ kind }) => kind === "rotated");
      expect(rotated.filter(({ was, session, now }) => was.proved !== true || now.session !== session)).toEqual([]);
      expect(life.filter(({ was, kind }) => kind === "mismatch" && was.proved !== "pending")).toEqual([]);
    }),
  );
});

test("in any history: as long as the right conversation was not seen, the worker stays in it", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("b", "c"), { minLength: 1 }), (sessions) => {
      expect(lifeOf(sessions).at(-1)?.now).toEqual({ session: "a", proved: false });
    }),
  );
});

test("the same sign twice is news once", () => {
  fc.assert(
    fc.property(signs, fc.constantFrom("a", "b", "c"), (sessions, again) => {
      expect(lifeOf([...sessions, again, again]).at(-1)?.kind).toBe("known");
    }),
  );
});

test.each([
  ["a pending run is given its time", "pending", 1_999, false, true],
  ["and no more than that", "pending", 2_000, false, false],
  ["an adopted run may have rotated unseen, however long ago", "pending", 60_000, true, true],
  ["a proved run moves at once", true, 0, false, false],
  ["a run that is known to be wrong stays wrong", false, 60_000, false, true],
] as const)("%s", (_what, proved, elapsedMs, adopted, awaits) => {
  expect(awaitsConfirmation(proved, 100, 100 + elapsedMs, { adopted, confirmMs: 2_000 })).toBe(awaits);
});
