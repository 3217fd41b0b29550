import { expect, test } from "vitest";
import { movedTo } from "../../src/core/rotation.ts";

const at = (session: string, sinceMs?: number): { session: string; sinceMs?: number } =>
  sinceMs === undefined ? { session } : { session, sinceMs };

type Row = [
  what: string,
  current: string,
  before: string[] | null,
  shown: { session: string; sinceMs?: number }[],
  gone: string | null,
];

const ROWS: Row[] = [
  ["where it was", "a", ["a"], [at("a")], null],
  ["nothing to be seen", "a", ["a"], [], null],
  ["another one", "a", ["a"], [at("b")], "b"],
  ["another one, and still the old one", "a", ["a"], [at("a", 1), at("b", 2)], "b"],
  ["the old one let go later", "b", ["a", "b"], [at("b", 2)], null],
  ["back to an old one that is taken up again", "b", ["b"], [at("b", 2), at("a", 1)], "a"],
  ["the current one let go, an old one left", "b", ["a", "b"], [at("a", 1)], "a"],
  ["told by a hook sooner than by its registry", "b", ["a"], [at("a")], null],
  ["first look: right", "a", null, [at("a")], null],
  ["first look: elsewhere", "a", null, [at("b")], "b"],
  ["first look: one that it took up later too", "a", null, [at("a", 1), at("b", 2)], "b"],
  ["first look: one that it had before too", "a", null, [at("a", 2), at("b", 1)], null],
  ["first look: two of unknown age", "a", null, [at("a"), at("b")], null],
];

test.each(ROWS)("%s", (_what, current, before, shown, gone) => {
  expect(movedTo(current, before && new Set(before), shown)?.session ?? null).toBe(gone);
});
