import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

// One word, one meaning: an exported type, function, class or constant has its name to itself.

interface Source {
  file: string;
  text: string;
}

test("no exported type of src has a name that is declared twice", () => {
  const sources = globSync("**/*.ts", { cwd: "src" }).map((file) => ({
    file,
    text: readFileSync(join("src", file), "utf8"),
  }));
  expect(sources.length).toBeGreaterThan(50);
  expect([...declaredTwice(sources).values()]).toEqual([]);
});

test.each([
  ["an interface and a type", "export interface Launch {\n}", "export type Launch = string;"],
  ["a class and an interface", "export class Launch<T> {\n}", "export interface Launch extends Other {\n}"],
  ["an exported one and one of a file's own", "export type Launch = 1;", "interface Launch {\n}"],
  ["an abstract class", "export abstract class Launch {\n}", "type Launch =\n  | 1;"],
])("the checker finds %s", (_what, one, other) => {
  const sources = [
    { file: "a.ts", text: `// first\n${one}` },
    { file: "b.ts", text: other },
  ];
  expect([...declaredTwice(sources).values()]).toEqual(["Launch: a.ts, b.ts"]);
});

test("the checker leaves alone what is no second declaration", () => {
  const sources = [
    { file: "a.ts", text: "export interface Launch {\n}\n// type Launch = 1;\n" },
    { file: "b.ts", text: 'import type { Launch } from "./a.ts";\nexport type { Launch } from "./a.ts";\n' },
    { file: "c.ts", text: "export interface LaunchOrder {\n}\nconst type = 1;\ntype Own = 1;" },
    { file: "d.ts", text: "type Own = 2;" },
  ];
  expect(declaredTwice(sources).size).toBe(0);
});

/**
 * Functions, classes and constants count where they are exported: a helper of one file hides nothing from another. A name may be
 * exported twice by one file, as a type and as a value, or as the overloads of a function.
 */
const EXPORTED_VALUE =
  /^export (?:default )?(?:declare )?(?:(?:async )?function\*?|(?:abstract )?class|const enum|enum|const|let) (\w+)/gm;

test("no exported function, class or constant of src has a name that is exported twice", () => {
  const sources = globSync("**/*.ts", { cwd: "src" }).map((file) => ({
    file,
    text: readFileSync(join("src", file), "utf8"),
  }));
  expect(sources.flatMap(({ text }) => [...text.matchAll(EXPORTED_VALUE)]).length).toBeGreaterThan(500);
  expect(exportedTwice(sources)).toEqual([]);
});

test.each([
  ["two functions", "export function launch(): void {}", "export async function launch<T>() {}"],
  ["a generator and a constant", "export function* launch() {}", "export const launch: Launch = 1;"],
  ["a constant and a variable", "export const launch = () => 1;", "export let launch;"],
  ["two classes", "export class launch {}", "export abstract class launch<T> {}"],
])("the checker of values finds %s", (_what, one, other) => {
  const sources = [
    { file: "a.ts", text: `// first\n${one}` },
    { file: "b.ts", text: other },
  ];
  expect(exportedTwice(sources)).toEqual(["launch: a.ts, b.ts"]);
});

test("the checker of values leaves alone what is no second export", () => {
  const sources = [
    { file: "a.ts", text: "export function launch(a: 1): void;\nexport function launch(a: 2): void;\n" },
    { file: "b.ts", text: 'import { launch } from "./a.ts";\nexport { launch } from "./a.ts";\n' },
    { file: "c.ts", text: "function launch(): void {}\nexport const launches = 1;\n// export const launch = 1;\n" },
  ];
  expect(exportedTwice(sources)).toEqual([]);
});

/** Names of functions, classes and constants that more than one file exports, and where. */
function exportedTwice(sources: readonly Source[]): string[] {
  const files = new Map<string, Set<string>>();
  for (const { file, text } of sources) {
    for (const [, name = ""] of text.matchAll(EXPORTED_VALUE)) {
      files.set(name, (files.get(name) ?? new Set()).add(file));
    }
  }
  const twice = [...files].filter(([, where]) => where.size > 1);
  return twice.map(([name, where]) => `${name}: ${[...where].toSorted().join(", ")}`);
}

/** Names of exported types with more than one declaration in the sources, and where those are. */
function declaredTwice(sources: readonly Source[]): Map<string, string> {
  const files = new Map<string, string[]>();
  const exported = new Set<string>();
  for (const { file, text } of sources) {
    for (const [, isExported, name = ""] of text.matchAll(DECLARATION)) {
      files.set(name, [...(files.get(name) ?? []), file]);
      if (isExported !== undefined) exported.add(name);
    }
  }
  const twice = [...files].filter(([name, where]) => exported.has(name) && where.length > 1);
  return new Map(twice.map(([name, where]) => [name, `${name}: ${where.toSorted().join(", ")}`]));
}

const DECLARATION = /^(export )?(?:declare )?(?:abstract )?(?:interface|type|class) (\w+)(?=[\s<={])(?!\s*\})/gm;

/** A doc comment that opens so is a fragment, or has a pronoun without its noun: it does not read alone. */
const FRAGMENT = /\/\*\*\s+(?:\* )?(?:Of|What|Whoever|Whose|Those|Its|It|Not|So|To whoever|By whom) /;

test("no doc comment of src or test opens with a fragment", () => {
  // This file has fragments as examples.
  const files = globSync("{src,test}/**/*.ts").filter((file) => file !== "test/words.test.ts");
  expect(files.length).toBeGreaterThan(100);
  expect(files.filter((file) => FRAGMENT.test(readFileSync(file, "utf8")))).toEqual([]);
});

test("a fragment is told from a sentence", () => {
  expect("/** Of one call: there are thousands at once. */").toMatch(FRAGMENT);
  expect("/**\n   * What those work with that follow conversations.\n */").toMatch(FRAGMENT);
  expect("/** Returns what a call needs. */").not.toMatch(FRAGMENT);
  expect("/** Offers the next messages. */").not.toMatch(FRAGMENT);
});

interface GlossaryRow {
  term: string;
  meaning: string;
  avoid: string[];
}

test("the glossary gives every term one row, one meaning, and avoids no word that it uses as a term", () => {
  const rows = glossary(readFileSync("CONTEXT.md", "utf8"));
  expect(rows.length).toBeGreaterThan(70);
  expect(glossaryFaults(rows)).toEqual([]);
});

test.each([
  ["a term with two rows", "| **run** | One. | |\n| **run** | Another. | |", /run has 2 rows/],
  ["two terms in one row", "| **run**, **session** | One. | |", /not one bold term/],
  [
    "a term that another row avoids",
    "| **run** | One. | |\n| **job** | Two. | run, task |",
    /run is a term, and avoided by job/,
  ],
  ["a term without a meaning", "| **run** |  | |", /run has no sentence/],
  ["two meanings", "| **run** | A process. Also a race. | |", /run has no sentence/],
])("the glossary's checker finds %s", (_what, table, fault) => {
  expect(glossaryFaults(glossary(table)).join("\n")).toMatch(fault);
});

function glossary(text: string): GlossaryRow[] {
  const rows = text.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| term"));
  return rows.map((line) => {
    const [term = "", meaning = "", avoid = ""] = line.split(" |").map((cell) => cell.replace(/^\|? ?/, "").trim());
    // A word with its own meaning in brackets behind it is avoided here, and a term there.
    const words = avoid.split(", ").filter((word) => word !== "" && !word.includes("("));
    return { term, meaning, avoid: words };
  });
}

function glossaryFaults(rows: readonly GlossaryRow[]): string[] {
  const terms = rows.map(({ term }) => term.replaceAll("**", ""));
  return rows.flatMap(({ term, meaning, avoid }, at) => {
    const name = terms[at] ?? "";
    const times = terms.filter((each) => each === name).length;
    return [
      ...(/^\*\*[\w -]+\*\*$/.test(term) ? [] : [`${term}: not one bold term`]),
      ...(times === 1 ? [] : [`${name} has ${times} rows`]),
      ...(/^[^.]+\.$/.test(meaning.replaceAll(/`[^`]*`/g, "code").replaceAll("e.g.", ""))
        ? []
        : [`${name} has no sentence`]),
      ...avoid.filter((word) => terms.includes(word)).map((word) => `${word} is a term, and avoided by ${name}`),
    ];
  });
}
