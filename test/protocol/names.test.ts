import * as fc from "fast-check";
import { expect, test } from "vitest";
import { checkName, isName, nameKey, nearest, parseAddress, slugName } from "../../src/protocol/names.ts";

test.each([
  "a",
  "A",
  "7",
  "coder-1",
  "coder.1",
  "a_b",
  "x--y",
  "Käthe".replace("ä", "ae"),
  "n".repeat(64),
  "allx",
  "console",
  "com10",
])("%s is a name", (name) => expect(isName(name)).toBe(true));

test.each([
  "",
  ".a",
  "a.",
  "-a",
  "a-",
  "_a",
  "a..b",
  "a b",
  "a/b",
  "ä",
  "a\n",
  "a\0",
  "~",
  "n".repeat(65),
  "all",
  "ME",
  "Operator",
  "supervisor",
  "daemon",
  "con",
  "NUL",
  "com1",
  "lpt9.txt",
  "aux.",
])("%j is no name", (name) => expect(isName(name)).toBe(false));

test("whatever comes in, the slug is a legal name", () => {
  const anything = fc.oneof(
    fc.string({ unit: "binary", maxLength: 300 }),
    fc.string({ unit: fc.constantFrom(...Array.from("aA0.-_ ~")), maxLength: 200 }),
  );
  fc.assert(
    fc.property(anything, (raw) => isName(slugName(raw))),
    { numRuns: 2_000 },
  );
  for (const raw of ["con", "COM1.x.y", "all", "..", "-", "a..b", `${"a".repeat(63)}.b`, `con.${"x".repeat(80)}`])
    expect(isName(slugName(raw))).toBe(true);
});

test("a legal name is its own slug", () => {
  const legal = fc
    .stringMatching(/^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,20}[A-Za-z0-9])?$/)
    .filter((name) => isName(name) && !name.includes("--"));
  fc.assert(
    fc.property(legal, (name) => {
      expect(slugName(name)).toBe(name);
    }),
  );
});

test("what is refused says why and what would do", () => {
  expect(() => checkName("two words")).toThrow(expect.objectContaining({ code: "usage", hint: "try two-words" }));
  expect(() => checkName("x".repeat(10_000))).toThrow(
    expect.objectContaining({ message: expect.stringMatching(/^.{1,200}$/) as string }),
  );
});

test("case is kept and ignored in comparison", () => {
  expect(nameKey("CoDeR")).toBe(nameKey("coder"));
});

test("an address is a name, or a project and a name", () => {
  expect(parseAddress("coder")).toEqual({ project: null, name: "coder" });
  expect(parseAddress("api/coder")).toEqual({ project: "api", name: "coder" });
  for (const bad of ["/coder", "api/", "a/b/c", "/", ""]) expect(() => parseAddress(bad)).toThrow(/is not a/);
});

test("nearest finds misspellings, swapped letters among them, and nothing far-fetched", () => {
  const verbs = ["run", "rename", "retire", "history"];
  expect(nearest("rnu", verbs)).toEqual(["run"]);
  expect(nearest("histroy", verbs)).toEqual(["history"]);
  expect(nearest("RENAM", verbs)).toEqual(["rename"]);
  expect(nearest("zzz", verbs)).toEqual([]);
  expect(nearest("x".repeat(100_000), verbs)).toEqual([]);
});
