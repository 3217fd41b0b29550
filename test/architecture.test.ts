import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";

// The walks of ARCHITECTURE.md, checked against the code: a step that is no longer true fails.

const STEPS_MAX = 15;

interface Step {
  file: string;
  /** A function or method of the file, named right behind it: the file before calls it. */
  member: string | null;
}

interface Walk {
  title: string;
  steps: Step[];
}

/** Reads a file of src; null if it is not there. */
type Reader = (file: string) => string | null;

const ofSrc: Reader = (file) => {
  const path = join("src", file);
  return existsSync(path) ? readFileSync(path, "utf8") : null;
};

test("the five walks go from file to file as the code does", () => {
  const walks = readWalks(readFileSync("ARCHITECTURE.md", "utf8"));
  expect(walks.map(({ steps }) => steps.length > 5)).toEqual([true, true, true, true, true]);
  expect(walks.flatMap((walk) => walkFaults(walk, ofSrc))).toEqual([]);
});

const SAMPLE: Readonly<Record<string, string>> = {
  "a.ts": 'import { b } from "./room/b.ts";\nb();',
  "room/b.ts": "export function b(): void {}",
  "c.ts": "services.things.go(1);",
  "d.ts": "export class Things {\n  async go(count: number): Promise<void> {}\n}",
};

test.each([
  ["an import", "**x**\n\n1. `a.ts` calls\n2. `room/b.ts` this."],
  ["an import the other way", "**x**\n\n1. `room/b.ts` is called by\n2. `a.ts` this."],
  ["a call of a named member", "**x**\n\n1. `c.ts` calls\n2. `d.ts` `go` this."],
])("the checker lets %s pass", (_what, page) => {
  expect(faultsOn(page)).toEqual([]);
});

test.each<[what: string, page: string, fault: RegExp]>([
  ["a file that is gone", "**x**\n\n1. `a.ts` calls\n2. `room/gone.ts` this.", /room\/gone\.ts is not there/],
  ["two files that do not know each other", "**x**\n\n1. `a.ts` calls\n2. `d.ts` this.", /a\.ts and d\.ts/],
  ["a member that is gone", "**x**\n\n1. `c.ts` calls\n2. `d.ts` `stop` this.", /c\.ts and d\.ts/],
  ["a walk that is too long", `**x**\n\n${"1. `a.ts` again.\n".repeat(STEPS_MAX + 1)}`, /16 steps/],
])("the checker finds %s", (_what, page, fault) => {
  expect(faultsOn(page).join("\n")).toMatch(fault);
});

function faultsOn(page: string): string[] {
  return readWalks(page).flatMap((walk) => walkFaults(walk, (file) => SAMPLE[file] ?? null));
}

/** A bold line, and the numbered list below it. */
function readWalks(page: string): Walk[] {
  return [...page.matchAll(/^\*\*(.+)\*\*\n\n((?:\d+\. .*\n?)+)/gm)].map(([, title = "", list = ""]) => ({
    title,
    steps: [...list.matchAll(/^\d+\. `([^`]+)`(?: `(\w+)`)?/gm)].map(([, file = "", member]) => ({
      file,
      member: member ?? null,
    })),
  }));
}

function walkFaults({ title, steps }: Walk, read: Reader): string[] {
  const gone = steps.filter(({ file }) => read(file) === null).map(({ file }) => `${title}: ${file} is not there`);
  if (gone.length > 0) return gone;
  if (steps.length > STEPS_MAX) return [`${title}: ${steps.length} steps`];
  return steps.slice(1).flatMap((step, at) => {
    const before = steps[at];
    if (!before || before.file === step.file || areLinked(before, step, read)) return [];
    return [`${title}: ${before.file} and ${step.file} do not know each other`];
  });
}

function areLinked(before: Step, { file, member }: Step, read: Reader): boolean {
  const [from, to] = [read(before.file) ?? "", read(file) ?? ""];
  if (imports(before.file, from, file) || imports(file, to, before.file)) return true;
  if (member === null) return false;
  const declared = new RegExp(`^\\s*(?:export )?(?:async )?(?:function )?${member}\\(`, "m");
  return declared.test(to) && new RegExp(`\\.${member}\\(`).test(from);
}

function imports(file: string, text: string, target: string): boolean {
  const specifiers = text.matchAll(/(?:\bfrom\s*|\bimport\s*\(\s*)["'](\.[^"'\n]+)["']/g);
  return [...specifiers].some(([, specifier = ""]) => normalize(join(dirname(file), specifier)) === target);
}
