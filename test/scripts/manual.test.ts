import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { manPage, optionsReference, withOptionsPart } from "../../scripts/manual.js";
import type { HelpTable } from "../../src/commands/shared/verb/help-page.ts";

const help = JSON.parse(readFileSync("dist/help.json", "utf8")) as HelpTable;
const verbs = help.groups.flatMap((group) => group.verbs);

test("docs/reference.md has the options as the verbs tell them; after a change: npm run reference", () => {
  const page = readFileSync("docs/reference.md", "utf8");
  expect(page).toBe(withOptionsPart(page, optionsReference(help)));
});

test("a page that has lost its marks is an error", () => {
  expect(() => withOptionsPart("# Reference\n", "")).toThrow(/marks/);
});

test("the man page is in the package, and has every verb and option", () => {
  const { man, files } = JSON.parse(readFileSync("package.json", "utf8")) as { man: string; files: string[] };
  expect(man).toBe("./dist/perdure.1");
  expect(files).toContain("dist");
  const page = readFileSync(man, "utf8");
  for (const { verb, options = {} } of verbs) {
    expect(page).toContain(`.SS perdure ${verb.replaceAll("-", "\\-")}`);
    for (const name of Object.keys(options)) expect(page).toContain(`\\fB\\-\\-${name.replaceAll("-", "\\-")}\\fR`);
  }
});

test("the man page is shown without a complaint", ({ skip }) => {
  if (!isInstalled("groff")) skip("groff is not installed");
  const { stdout: shown, stderr } = spawnSync("groff", ["-man", "-Tutf8", "-ww", "-P-cbou"], {
    input: manPage(help, "1.2.3"),
    encoding: "utf8",
  });
  expect(stderr).toBe("");
  expect(shown).toContain("✓ when the vendor's own process");
  expect(shown).toContain("perdure 1.2.3");
  expect(shown).toMatch(/^ +-n, --lines N/m);
  expect(shown).toContain("--new-args='--id {id}'");
});

test("what roff would take for its own is shown as it is", ({ skip }) => {
  if (!isInstalled("groff")) skip("groff is not installed");
  const verb = {
    verb: "x",
    summary: "do",
    usage: "",
    examples: [".begins 'a\\nb' `c` -d", "'quoted"],
    words: [0, 0] as const,
  };
  const shown = execFileSync("groff", ["-man", "-Tascii", "-P-cbou"], {
    input: manPage({ groups: [{ title: "Some", verbs: [verb] }] }, "1"),
    encoding: "utf8",
  });
  expect(shown).toContain(".begins 'a\\nb' `c` -d");
  expect(shown).toContain("'quoted");
});

function isInstalled(program: string): boolean {
  try {
    execFileSync("sh", ["-c", `command -v ${program}`]);
    return true;
  } catch {
    return false;
  }
}
