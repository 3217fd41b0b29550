import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";

// The walks of ARCHITECTURE.md, checked against the code: a step that is no longer true fails.

const STEPS_MAX = 16;

interface Step {
  file: string;
  /** A function or method of the file, named right behind it: the file before calls it. */
  member: string | null;
  /** The walk goes on in a file where it was before. */
  back: boolean;
  /** Other files that the step's text names: the step's file imports them. */
  beside: string[];
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

test("the seven walks go from file to file as the code does", () => {
  const walks = readWalks(readFileSync("ARCHITECTURE.md", "utf8"));
  expect(walks.map(({ steps }) => steps.length > 5)).toEqual(Array.from({ length: 7 }, () => true));
  expect(walks.flatMap((walk) => walkFaults(walk, ofSrc))).toEqual([]);
});

const SAMPLE: Readonly<Record<string, string>> = {
  "a.ts": 'import { b } from "./room/b.ts";\nimport type { T } from "./types.ts";\nb();',
  "room/b.ts": "export function b(): void {}",
  "c.ts": "services.things.go(1);",
  "d.ts": "export class Things {\n  async go(count: number): Promise<void> {}\n}",
  "types.ts": "export interface T {}",
  "protocol/x.ts": "export interface X {}",
  "e.ts": 'import type { X } from "./protocol/x.ts";',
};

test.each([
  ["an import", "**x**\n\n1. `a.ts` calls\n2. `room/b.ts` this."],
  ["an import the other way", "**x**\n\n1. `room/b.ts` is called by\n2. `a.ts` this."],
  ["a call of a named function", "**x**\n\n1. `a.ts` calls\n2. `room/b.ts` `b` this."],
  ["a call of a named method", "**x**\n\n1. `c.ts` calls\n2. `d.ts` `go` this."],
  ["a type of the protocol, which is what travels", "**x**\n\n1. `e.ts` sends\n2. `protocol/x.ts` this."],
  ["a way back", "**x**\n\n1. `a.ts` calls\n2. `room/b.ts` this.\n3. back in `a.ts`, it goes on."],
  ["a file beside that is imported", "**x**\n\n1. `a.ts` lets `room/b.ts` decide."],
])("the checker lets %s pass", (_what, page) => {
  expect(faultsOn(page)).toEqual([]);
});

test.each<[what: string, page: string, fault: RegExp]>([
  ["a file that is gone", "**x**\n\n1. `a.ts` calls\n2. `room/gone.ts` this.", /room\/gone\.ts is not there/],
  ["two files that do not know each other", "**x**\n\n1. `a.ts` calls\n2. `d.ts` this.", /a\.ts and d\.ts/],
  ["a type that is only borrowed", "**x**\n\n1. `a.ts` calls\n2. `types.ts` this.", /a\.ts and types\.ts/],
  ["a method that is gone", "**x**\n\n1. `c.ts` calls\n2. `d.ts` `stop` this.", /c\.ts and d\.ts/],
  ["a function that is gone, though the file is imported", "**x**\n\n1. `a.ts`\n2. `room/b.ts` `gone`.", /room\/b\.ts/],
  ["a way back to where the walk never was", "**x**\n\n1. `a.ts` calls\n2. back in `c.ts`, it goes on.", /never was/],
  ["a file beside that nobody imports", "**x**\n\n1. `a.ts` lets `d.ts` decide.", /a\.ts does not import d\.ts/],
  ["a walk that is too long", `**x**\n\n${"1. `a.ts` again.\n".repeat(STEPS_MAX + 1)}`, /17 steps/],
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
    steps: [...list.matchAll(/^\d+\. (back in )?`([^`]+)`(?: `(\w+)`)?(.*)$/gm)].map(
      ([, back, file = "", member, rest = ""]) => ({
        file,
        member: member ?? null,
        back: back !== undefined,
        beside: [...rest.matchAll(/`([\w/-]+\.ts)`/g)].map(([, path = ""]) => path),
      }),
    ),
  }));
}

function walkFaults({ title, steps }: Walk, read: Reader): string[] {
  const named = steps.flatMap(({ file, beside }) => [file, ...beside]);
  const gone = named.filter((file) => read(file) === null).map((file) => `${title}: ${file} is not there`);
  if (gone.length > 0) return gone;
  if (steps.length > STEPS_MAX) return [`${title}: ${steps.length} steps`];
  return steps.flatMap((step, at) => [
    ...step.beside
      .filter((file) => !importOf(step.file, file, read))
      .map((file) => `${title}: ${step.file} does not import ${file}`),
    ...wayFault(title, steps.slice(0, at), step, read),
  ]);
}

function wayFault(title: string, earlier: readonly Step[], step: Step, read: Reader): string[] {
  const before = earlier.at(-1);
  if (step.back) {
    return earlier.some(({ file }) => file === step.file) ? [] : [`${title}: the walk never was in ${step.file}`];
  }
  if (!before || areLinked(before.file, step, read)) return [];
  return [`${title}: ${before.file} and ${step.file} do not know each other`];
}

function areLinked(before: string, { file, member }: Step, read: Reader): boolean {
  if (member !== null) return calls(read(before) ?? "", read(file) ?? "", member);
  return [importOf(before, file, read), importOf(file, before, read)].some((kind) => {
    return kind === "value" || (kind === "type" && [before, file].some((each) => each.startsWith("protocol/")));
  });
}

/** Whether one text calls a function or method that the other declares. */
function calls(from: string, to: string, member: string): boolean {
  const declared = new RegExp(`^\\s*(?:export )?(?:async )?(?:function )?${member}(?:<[^(]*>)?\\(`, "m");
  return declared.test(to) && new RegExp(`\\b${member}\\(`).test(from);
}

function importOf(file: string, target: string, read: Reader): "value" | "type" | null {
  const found = [
    ...(read(file) ?? "").matchAll(/(?:^(import|export) (type )?[^;]*?from\s*|\bimport\(\s*)["'](\.[^"'\n]+)["']/gm),
  ]
    .filter(([, , , specifier = ""]) => normalize(join(dirname(file), specifier)) === target)
    .map(([, , type]) => (type === undefined ? "value" : "type"));
  return found.includes("value") ? "value" : (found[0] ?? null);
}
