import { readdirSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { VERBS } from "../../../src/commands/verbs.ts";
import { Home } from "../../support/home.ts";

function newHome(): Home {
  const home = new Home();
  onTestFinished(() => home.clear());
  return home;
}

test("help lists every verb once, under the heading of its folder", async () => {
  const { stdout } = await newHome().perdure(["help"]);
  const sections = stdout.split("\n\n").flatMap((section) => {
    const [heading = "", ...lines] = section.split("\n");
    return /^[A-Z]\w*:$/.test(heading) ? [{ title: heading.slice(0, -1), lines }] : [];
  });
  expect(sections.map(({ title }) => title)).toEqual([
    "Run",
    "Fleet",
    "Mail",
    "Names",
    "Conversations",
    "Context",
    "Admin",
  ]);
  const listed = sections.flatMap(({ title, lines }) =>
    lines.map((line) => ({ title, verb: /^ {2}(\S+) {2,}\S/.exec(line)?.[1] ?? line })),
  );
  expect(listed.map(({ verb }) => verb).toSorted()).toEqual(Object.keys(VERBS).filter(Boolean).toSorted());
  const strays = listed.filter(
    ({ title, verb }) => verb !== "demo" && !readdirSync(`src/commands/${title.toLowerCase()}`).includes(`${verb}.ts`),
  );
  expect(strays).toEqual([]);
});

test("a former name of an option is accepted, but neither in the help nor completed", async () => {
  const home = newHome();
  expect((await home.perdure(["help", "adopt"])).stdout).not.toContain("--session");
  expect((await home.perdure(["__complete", "adopt", "--"])).stdout.split("\n")).toEqual(
    expect.arrayContaining(["--conversation"]),
  );
  expect((await home.perdure(["__complete", "adopt", "--s"])).stdout.trim()).toBe("");
});
