import { expect, test } from "vitest";
import { isRefusedByVendor, type EndedStart } from "../../src/core/refused-start.ts";

const AT_ONCE_MS = 1000;

const REFUSED: EndedStart = {
  resumesUnproved: true,
  exit: 1,
  requested: false,
  ranMs: 400,
  optionsProved: true,
  words: null,
  hasScreen: false,
};

test.each<[what: string, changed: Partial<EndedStart>, refused: boolean]>([
  ["failed at once with options that it has taken before", {}, true],
  ["with options that it was never seen to take", { optionsProved: false }, false],
  ["after a while", { ranMs: AT_ONCE_MS }, false],
  ["in good order", { exit: 0 }, false],
  ["by a signal", { exit: 130 }, false],
  ["without a program", { exit: 127 }, false],
  ["without an exit code", { exit: null }, false],
  ["stopped by somebody", { requested: true }, false],
  ["proved, or begun anew", { resumesUnproved: false }, false],
  ["with its words on the screen", { hasScreen: true, words: "No conversation found", optionsProved: false }, true],
  ["with its words on the screen, late", { hasScreen: true, words: "No conversation found", ranMs: 60_000 }, true],
  ["with other words on the screen", { hasScreen: true }, false],
  ["proved, with its words on the screen", { hasScreen: true, words: "said", resumesUnproved: false }, false],
])("A4: a resume that ended %s", (_what, changed, refused) => {
  expect(isRefusedByVendor({ ...REFUSED, ...changed }, AT_ONCE_MS)).toBe(refused);
});
