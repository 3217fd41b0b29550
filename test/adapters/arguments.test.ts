import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { filled, VENDORS } from "./fixtures.ts";

const NAME = "coder";
const RUN_DIR = "/home/u/.local/state/perdure/runs/h.api.coder.1";

describe.each(VENDORS)("$vendor", ({ adapter, facts, arguments: rows }) => {
  const fill = (args: readonly string[]): string[] => args.map((arg) => filled(arg, { name: NAME, runDir: RUN_DIR }));
  const plan = (step: "new" | "resume", args: string[]): string[] =>
    adapter.plan({ step, session: facts.session, name: NAME, args, runDir: RUN_DIR, transcript: null }).args;
  const titled = rows.map((row) => ({ ...row, line: JSON.stringify(row.args) }));

  test.each(titled)("$line is read", ({ args, converses, headless, conflict }) => {
    const reading = adapter.read(args);
    const [refused = null, why = null] = reading.conflict?.split(": ") ?? [];
    expect({ ...reading, conflict: refused }).toEqual({ converses, headless, conflict });
    expect(why === null).toBe(conflict === null);
  });

  test.each(titled.filter((row) => row.new ?? row.resume))("$line is planned", (row) => {
    expect(plan("new", row.args)).toEqual(fill(row.new ?? []));
    expect(plan("resume", row.args)).toEqual(fill(row.resume ?? []));
  });

  test("whatever is given, it is read and planned, with the conversation named once", () => {
    const word = fc.oneof(fc.constantFrom(...rows.flatMap(({ args }) => args)), fc.string());
    fc.assert(
      fc.property(fc.array(word, { maxLength: 6 }), (args) => {
        adapter.read(args);
        for (const step of ["new", "resume"] as const) {
          expect(plan(step, args).filter((arg) => arg === facts.session)).toHaveLength(1);
        }
      }),
    );
  });
});
