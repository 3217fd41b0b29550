import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { fileNameOf } from "../../src/protocol/foreign-id.ts";

const hash = (id: string): string => createHash("sha256").update(id).digest("hex").slice(0, 10);

test.each(["abc", "0", "velox.api.coder-1.1718400000", "a_b-c.d", "a".repeat(100)])("%s stays as it is", (id) => {
  expect(fileNameOf(id)).toBe(id);
});

test.each([
  ["", ""],
  ["ABC", "ABC"],
  ["a/b", "ab"],
  ["../x", "..x"],
  ["a..b", "a..b"],
  [".hidden", ".hidden"],
  ["a~b", "ab"],
  ["ünï", "n"],
  ["a".repeat(101), "a".repeat(80)],
])("%j keeps its safe characters and gets a hash", (id, readable) => {
  expect(fileNameOf(id)).toBe(`${readable}~${hash(id)}`);
});

const id = fc.oneof(
  fc.string({ unit: "binary", maxLength: 120 }),
  fc.string({ unit: fc.constantFrom(...Array.from("aAbB0.-_~/")), maxLength: 6 }),
);

test("different ids get different names, on file systems that ignore case too", () => {
  const apart = fc.property(id, id, (a, b) => {
    expect(fileNameOf(a).toLowerCase() === fileNameOf(b).toLowerCase()).toBe(a === b);
  });
  fc.assert(apart, { numRuns: 5_000 });
});

test("a name that was mapped is not mapped to itself: it stays apart from the id that looks like it", () => {
  fc.assert(
    fc.property(id, (a) => {
      const name = fileNameOf(a);
      expect(fileNameOf(name) === name).toBe(name === a);
    }),
  );
});

test("a name is always one plain file name", () => {
  fc.assert(
    fc.property(id, (a) => {
      expect(fileNameOf(a)).toMatch(/^[A-Za-z0-9._-]*(~[0-9a-f]{10})?$/);
      expect(["", ".", ".."]).not.toContain(fileNameOf(a));
      expect(fileNameOf(a).length).toBeLessThanOrEqual(100);
    }),
  );
});
