import * as fc from "fast-check";
import { expect, it } from "vitest";
import { partsOf } from "../../../src/daemon/mcp/tools/parts.ts";

it("the parts of a text are the text, each is short enough as JSON, and none ends inside a character", () => {
  const text = fc.array(
    fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom("\n", "\u0000", "é", "𝒳", "x".repeat(50))),
  );
  fc.assert(
    fc.property(text, fc.integer({ min: 8, max: 100 }), (pieces, bytesMax) => {
      const whole = pieces.join("");
      const parts = partsOf(whole, bytesMax);
      expect(parts.join("")).toBe(whole);
      for (const part of parts) {
        expect(Buffer.byteLength(JSON.stringify(part)) - 2).toBeLessThanOrEqual(bytesMax);
        expect(part.isWellFormed()).toBe(true);
        expect(part === "" && parts.length > 1).toBe(false);
      }
    }),
  );
});

it("a part ends with a line where there is one", () => {
  expect(partsOf("one two\nthree four\nfive", 14)).toEqual(["one two\n", "three four\n", "five"]);
  expect(partsOf("short", 14)).toEqual(["short"]);
});
