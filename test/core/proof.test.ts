import * as fc from "fast-check";
import { expect, expectTypeOf, test } from "vitest";
import type { Sign } from "../../src/protocol/records/conversation.ts";
import {
  awaitsConfirmation,
  isOpen,
  observe,
  observeStray,
  type ProofFinding,
  type ProofState,
} from "../../src/core/proof.ts";

test.each([
  ["pending", "a", "proved"],
  ["pending", "b", "mismatch"],
  [true, "a", "known"],
  [true, "b", "rotated"],
  [false, "a", "proved"],
  [false, "b", "known"],
] as const)("a run in a that is proved: %s shows %s: %s", (proved, session, kind) => {
  expect(observe({ session: "a", proved }, { session, means: "open" })).toEqual({ kind });
});

test("A1: an echo of the command line is no open sign, and nothing else can be judged", () => {
  expect(isOpen({ means: "echo" })).toBe(false);
  expect(isOpen({ means: "open" })).toBe(true);
  expectTypeOf(observe).parameter(1).toHaveProperty("means").toEqualTypeOf<"open">();
});

test.each([
  ["pending", "mismatch"],
  [true, "mismatch"],
  [false, "known"],
] as const)("A1: the right id in another place is a copy, of a run that is proved: %s: %s", (proved, kind) => {
  expect(observeStray({ session: "a", proved })).toEqual({ kind });
});

test("A1: a move after echoes only is a mismatch, after an open sign it is a rotation", () => {
  const echoed = lifeOf([echo("a"), echo("a"), open("b"), open("c")]);
  expect(echoed.map(({ kind }) => kind)).toEqual(["known", "known", "mismatch", "known"]);
  expect(echoed.at(-1)?.now).toEqual({ session: "a", proved: false });
  const opened = lifeOf([echo("a"), open("a"), open("b")]);
  expect(opened.map(({ kind }) => kind)).toEqual(["known", "proved", "rotated"]);
});

type Seen = Pick<Sign, "session" | "means">;

function open(session: string): Seen {
  return { session, means: "open" };
}

function echo(session: string): Seen {
  return { session, means: "echo" };
}

/** Applies the consequence of a finding to the state of a run. */
function follow(standing: ProofState, session: string, { kind }: ProofFinding): ProofState {
  if (kind === "known") return standing;
  if (kind === "mismatch") return { ...standing, proved: false };
  return { session, proved: true };
}

const sign = fc.record({ session: fc.constantFrom("a", "b", "c"), means: fc.constantFrom("open", "echo") });
const signs = fc.array(sign, { maxLength: 30 });

/** A run that begins in a, and each of its steps. */
function lifeOf(seen: Seen[]): { was: ProofState; session: string; kind: ProofFinding["kind"]; now: ProofState }[] {
  let was: ProofState = { session: "a", proved: "pending" };
  return seen.map((each) => {
    const finding: ProofFinding = isOpen(each) ? observe(was, each) : { kind: "known" };
    const step = { was, session: each.session, kind: finding.kind, now: follow(was, each.session, finding) };
    was = step.now;
    return step;
  });
}

test("in any history: a mismatch changes nothing that is bound, and only a proved run rotates", () => {
  fc.assert(
    fc.property(signs, (seen) => {
      const life = lifeOf(seen);
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
    fc.property(fc.array(fc.constantFrom(open("b"), open("c"), echo("a"), echo("b"))), (seen) => {
      expect(lifeOf([...seen, open("b")]).at(-1)?.now).toEqual({ session: "a", proved: false });
    }),
  );
});

test("the same sign twice is news once", () => {
  fc.assert(
    fc.property(signs, sign, (seen, again) => {
      expect(lifeOf([...seen, again, again]).at(-1)?.kind).toBe("known");
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

test("A1: what a process opens that came after the one in the conversation is a mismatch, not a rotation", () => {
  const state = { session: "a", proved: true } as const;
  const later = { session: "b", means: "open", isSuccessors: true } as const;
  expect(observe(state, later)).toEqual({ kind: "mismatch" });
  expect(observe({ ...state, session: "b" }, later)).toEqual({ kind: "known" });
});
