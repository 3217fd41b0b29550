import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PlanRequest } from "../../src/vendors/launch-plan.ts";
import type { TurnFacet, TurnOutcome, TurnReader } from "../../src/vendors/turn.ts";
import { TURN_LINE_CHARS_MAX } from "../../src/limits/index.ts";
import { OutputLines } from "../../src/vendors/shared/output-lines.ts";
import { recorded, turnOutput, VENDORS } from "./fixtures.ts";

/** A turn of a real program: how it ended, and how its output is to be read. */
interface TurnCase {
  /** The file with its stdout, in the folder of turns. */
  turn: string;
  exit: number | null;
  stderr?: string;
  outcome: TurnOutcome;
  /** The names of the tools that the agent is seen calling, and its words. */
  does: string[];
}

interface ArgumentCase {
  args: string[];
  turn: string[];
  skips: string | null;
  may: string;
}

const FACETS = VENDORS.flatMap((each) => (each.adapter.turn ? [{ ...each, facet: each.adapter.turn }] : []));
const RUN_DIR = "/home/u/.local/state/perdure/runs/h.api.coder.1";

describe.each(FACETS)("$vendor", ({ vendor, adapter, facet, facts, arguments: rows }) => {
  const turns = recorded(vendor, "turns.json") as TurnCase[];

  test.each(turns)("$turn: its output is read", ({ turn, exit, stderr = "", outcome, does }) => {
    const { reader, done } = readIn([turnOutput(vendor, turn)], facet);
    expect(reader.outcomeAtEnd(exit, stderr)).toEqual(outcome);
    expect(done).toEqual(does);
    expect(reader.hasBegun).toBe(does.length > 0);
  });

  test.each(turns)("$turn: it is read the same wherever it is cut", ({ turn, exit, stderr = "", outcome, does }) => {
    const text = turnOutput(vendor, turn);
    fc.assert(
      fc.property(fc.array(fc.nat(text.length), { maxLength: 20 }), (places) => {
        const { reader, done } = readIn(cutAt(text, places), facet);
        expect(reader.outcomeAtEnd(exit, stderr)).toEqual(outcome);
        expect(done).toEqual(does);
      }),
      { numRuns: 20 },
    );
  });

  test.each(turns)("$turn: without its last line it is no answer", ({ turn }) => {
    const lines = turnOutput(vendor, turn).trimEnd().split("\n").slice(0, -1);
    const { reader } = readIn([lines.map((line) => `${line}\n`).join("")], facet);
    expect(reader.outcome()?.kind).not.toBe("answer");
    expect(reader.outcomeAtEnd(null, "").kind).toBe("failed");
  });

  test("a program that printed nothing has given no answer", () => {
    for (const exit of [0, 1, null]) expect(facet.reader().outcomeAtEnd(exit, "").kind).toBe("failed");
  });

  test.each(recorded(vendor, "turn-arguments.json") as ArgumentCase[])(
    "$args is made a turn's",
    ({ args, turn, skips, may }) => {
      expect(facet.args(args, RUN_DIR)).toEqual(turn);
      expect({ skips: facet.skipsPermissions(args), may: facet.may(args) }).toEqual({ skips, may });
    },
  );

  test("whatever is given, a turn's arguments have nobody in front and say nothing, and stay as they are", () => {
    const words = fc.constantFrom(...rows.filter(({ conflict }) => conflict === null).flatMap(({ args }) => args));
    fc.assert(
      fc.property(fc.array(words, { maxLength: 6 }), (args) => {
        fc.pre(adapter.launch.readArgs(args).conflict === null);
        const turn = facet.args(args, RUN_DIR);
        const reading = adapter.launch.readArgs(turn);
        expect(reading).toMatchObject({ headless: true, conflict: null });
        expect(facet.args(turn, RUN_DIR)).toEqual(turn);
        for (const step of ["new", "resume", "fork"] as const) {
          const request = requestOf(step, turn, facts);
          expect(adapter.launch.plan({ ...request, prompt: "said first" })).toEqual(adapter.launch.plan(request));
        }
      }),
    );
  });
});

test("a line that is too long is passed over, and the next one is read", () => {
  const lines = new OutputLines();
  const part = "x".repeat(TURN_LINE_CHARS_MAX / 16);
  const found = [`{"long":"`, ...Array.from({ length: 17 }, () => part), `"}\n{"short"`, `:1}\n`];
  expect(found.flatMap((each) => lines.push(each))).toEqual([{ short: 1 }]);
});

function requestOf(step: PlanRequest["step"], args: string[], facts: { session: string; other: string }): PlanRequest {
  const from = step === "fork" ? { session: facts.other, transcript: "/home/u/.v/other.jsonl" } : null;
  const transcript = step === "resume" ? "/home/u/.v/transcript.jsonl" : null;
  const places = { runDir: RUN_DIR, cwd: "/home/u/api", configDir: "/home/u/.v", transcript, declared: null };
  return { step, from, session: facts.session, name: "coder", args, prompt: null, ...places };
}

function readIn(parts: readonly string[], facet: TurnFacet): { reader: TurnReader; done: string[] } {
  const reader = facet.reader();
  const progress = parts.flatMap((part) => reader.push(part));
  return { reader, done: progress.map((each) => (each.kind === "tool" ? `tool ${each.name}` : each.text)) };
}

function cutAt(text: string, places: readonly number[]): string[] {
  const cuts = [0, ...places.toSorted((a, b) => a - b), text.length];
  return cuts.slice(1).map((end, at) => text.slice(cuts[at], end));
}
