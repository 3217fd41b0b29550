import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import type { HelpTable } from "../../../src/commands/shared/verb/help-page.ts";
import { HELP_GROUPS, VERBS } from "../../../src/commands/verbs.ts";
import { Home } from "../../support/home.ts";

const COLUMNS = 80;
const table = JSON.parse(readFileSync("dist/help.json", "utf8")) as HelpTable;
const verbs = table.groups.flatMap((group) => group.verbs);

function newHome(): Home {
  const home = new Home();
  onTestFinished(() => home.clear());
  return home;
}

function tooWide(text: string): string[] {
  return text.split("\n").filter((line) => line.length > COLUMNS);
}

test("help lists every verb once, in five groups, the ten of every day first", async () => {
  const { stdout } = await newHome().perdure(["help"]);
  const sections = stdout.split("\n\n").flatMap((section) => {
    const [heading = "", ...lines] = section.split("\n");
    return /^[A-Z][\w ]*:$/.test(heading) ? [{ title: heading.slice(0, -1), lines }] : [];
  });
  expect(sections.map(({ title }) => title)).toEqual(HELP_GROUPS.map(({ title }) => title));
  expect(sections).toHaveLength(5);
  expect(sections[0]?.lines).toHaveLength(10);
  const [daily, ...others] = sections;
  const listed = [
    ...(daily?.lines ?? []).map((line) => /^ {2}(\S+) {2,}\S/.exec(line)?.[1] ?? line),
    ...others.flatMap(({ lines }) =>
      lines
        .join(" ")
        .split(/[\s,]+/)
        .filter(Boolean),
    ),
  ];
  expect(listed.toSorted()).toEqual(Object.keys(VERBS).filter(Boolean).toSorted());
  expect(tooWide(stdout)).toEqual([]);
  // It fits a terminal of 40 rows with the prompt below it.
  expect(stdout.trimEnd().split("\n").length).toBeLessThan(40);
});

test("every option of every verb says what it does, and is in the usage line or covered by it", () => {
  const faults = verbs.flatMap(({ verb, usage, options = {} }) =>
    Object.entries(options).flatMap(([name, { about, value, completes }]) => [
      ...(/^\S.{7,}[^.\s]$/.test(about) ? [] : [`${verb} --${name}: ${JSON.stringify(about)} is no description`]),
      ...(value === undefined || /^[A-Z]/.test(value) ? [] : [`${verb} --${name}: ${value} is no placeholder`]),
      ...(completes !== undefined && value === undefined
        ? [`${verb} --${name}: a switch has no value to complete`]
        : []),
      ...(usage.includes("[options]") || usage.includes(`--${name}`) ? [] : [`${verb}: its usage hides --${name}`]),
    ]),
  );
  expect(verbs.flatMap(({ options = {} }) => Object.keys(options)).length).toBeGreaterThan(50);
  expect(faults).toEqual([]);
});

test.each(verbs.map(({ verb }) => verb))("the help of %s fits 80 columns and names each option", async (verb) => {
  const { code, stdout } = await newHome().perdure([verb, "--help"]);
  expect(code).toBe(0);
  expect(tooWide(stdout)).toEqual([]);
  for (const name of Object.keys(verbs.find((each) => each.verb === verb)?.options ?? {})) {
    expect(stdout).toMatch(
      new RegExp(`^ {2}(-\\w, | {4})--${name}( [A-Z].*)?$|^ {2}(-\\w, | {4})--${name}( \\S+)? {2,}\\S`, "m"),
    );
  }
});

test("the help of a verb has its options in two columns", async () => {
  const { stdout } = await newHome().perdure(["logs", "--help"]);
  expect(stdout).toContain(
    [
      "Options:",
      "  -f, --follow   go on printing what comes, until Ctrl-C",
      "  -n, --lines N  the last N lines (200)",
    ].join("\n"),
  );
});

test("a former name of an option is accepted, but neither in the help nor completed", async () => {
  const home = newHome();
  expect((await home.perdure(["help", "adopt"])).stdout).not.toContain("--session");
  expect((await home.perdure(["__complete", "adopt", "--"])).stdout).toMatch(/^--conversation\t/m);
  expect((await home.perdure(["__complete", "adopt", "--s"])).stdout.trim()).toBe("");
});

test("--json has the options with their values and what they do", async () => {
  const { stdout } = await newHome().perdure(["help", "logs", "--json"]);
  const { options } = JSON.parse(stdout) as { options: object[] };
  expect(options).toContainEqual({
    name: "--lines",
    short: "-n",
    value: "N",
    multiple: false,
    about: "the last N lines (200)",
  });
});
