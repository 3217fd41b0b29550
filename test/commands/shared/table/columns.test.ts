import { mkdirSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import stringWidth from "string-width";
import { expect, test } from "vitest";
import { columnsOf, cutToColumns } from "../../../../src/commands/shared/table/columns.ts";
import { table } from "../../../../src/commands/shared/table/table.ts";
import { Home } from "../../../support/home.ts";

const asIs = (text: string): string => text;

/** Where the second column of a table begins, in columns of a terminal, line by line. */
function secondColumn(firstCells: string[]): number[] {
  const rows = firstCells.map((cell) => [cell, "|"]);
  const lines = table(["NAME", "|"], rows, asIs).split("\n");
  return lines.map((line) => stringWidth(line.slice(0, line.lastIndexOf("|"))));
}

test("a folder in another script does not shift the columns after it", () => {
  const cells = ["plain", "プロジェクト", "설계", "cafe\u0301", "👩‍👩‍👧 family", "🇩🇪", "नमस्ते", "zero\u200bwidth", "Müller"];
  expect(new Set(secondColumn(cells)).size).toBe(1);
  expect(table(["A", "B"], [["漢字", "x"], ["ab", "y"]], asIs)).toBe("A     B\n漢字  x\nab    y"); // oxfmt-ignore
});

/** Any text that a path or a message may have, with much of what is wide, joined or invisible. */
const texts = fc.string({
  unit: fc.oneof(
    fc.string({ minLength: 1, maxLength: 1, unit: "grapheme" }),
    fc.constantFrom(
      "漢",
      "ア",
      "가",
      "ｱ",
      "\u0301",
      "\u20dd",
      "\u200d",
      "\ufe0f",
      "👍",
      "🏽",
      "🇩",
      "क",
      "्",
      "…",
      "é",
      "a",
    ),
  ),
  maxLength: 30,
});

test("whatever the cells hold, the second column begins at one place", () => {
  fc.assert(
    fc.property(fc.array(texts, { minLength: 1, maxLength: 6 }), (cells) => {
      const clean = cells.map((cell) => cell.replaceAll(/[|\n]/g, ""));
      expect(new Set(secondColumn(clean)).size).toBe(1);
    }),
    { numRuns: 500 },
  );
});

test("a text that is cut fits, and keeps whole characters of its beginning", () => {
  fc.assert(
    fc.property(texts, fc.nat(20), (text, columns) => {
      const shown = cutToColumns(text, columns);
      expect(columnsOf(shown)).toBeLessThanOrEqual(columns);
      expect(shown === text || text.startsWith(shown.replace(/…$/, ""))).toBe(true);
    }),
    { numRuns: 500 },
  );
  expect(cutToColumns("ae\u0301\u0302xyz", 3)).toBe("ae\u0301\u0302…");
  expect(cutToColumns("a👩‍👩‍👧xyz", 3)).toBe("a…");
});

test("what is counted without Unicode's tables is what they say", () => {
  for (let code = 0x20; code < 0x3000; code++) {
    const char = String.fromCodePoint(code);
    if (/\p{Cc}/u.test(char)) continue;
    expect([code.toString(16), columnsOf(char)]).toEqual([code.toString(16), stringWidth(char)]);
  }
});

test("the built verbs find the library that measures", async () => {
  const home = new Home();
  const folder = join(home.dir, "プロジェクト");
  mkdirSync(folder);
  await home.perdure(["run", "one", "--", "true"], { cwd: folder });
  const { code, stdout, stderr } = await home.perdure(["project", "ls"]);
  await home.clear();
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("プロジェクト");
});
