import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Home } from "../../support/home.ts";

let home: Home;
beforeEach(() => {
  home = new Home();
});
afterEach(() => home.clear());

const at = (name: string): string => join(home.project, name);

async function skill(...args: string[]): Promise<void> {
  expect(await home.perdure(["skill", ...args])).toMatchObject({ code: 0 });
}

test.each([["with a newline at its end\n"], ["without one"], [""], ["\r\nother ends of lines\r\n"]])(
  "what is put into a file, %j, can be taken out without a trace",
  async (before) => {
    writeFileSync(at("AGENTS.md"), before);
    await skill("install");
    const installed = readFileSync(at("AGENTS.md"), "utf8");
    expect(installed.startsWith(before)).toBe(true);
    expect(installed).toContain("perdure send NAME 'TEXT'");
    await skill("install");
    expect(readFileSync(at("AGENTS.md"), "utf8")).toBe(installed);
    await skill("remove");
    expect(existsSync(at("AGENTS.md")) ? readFileSync(at("AGENTS.md"), "utf8") : "").toBe(before);
  },
);

test("what was written behind it meanwhile stays", async () => {
  writeFileSync(at("CLAUDE.md"), "mine");
  await skill("install");
  writeFileSync(at("CLAUDE.md"), `${readFileSync(at("CLAUDE.md"), "utf8")}later\n`);
  await skill("remove");
  expect(readFileSync(at("CLAUDE.md"), "utf8")).toBe("mine\nlater\n");
  expect(existsSync(at("AGENTS.md"))).toBe(false);
});

test("a file that is a link to another is written once, and stays a link", async () => {
  writeFileSync(at("AGENTS.md"), "both\n");
  symlinkSync("AGENTS.md", at("CLAUDE.md"));
  await skill("install");
  expect(readFileSync(at("CLAUDE.md"), "utf8").split("## Other agents of this project")).toHaveLength(2);
  await skill("remove");
  expect(readFileSync(at("CLAUDE.md"), "utf8")).toBe("both\n");
});

test("a project without instructions gets a file, and a skill folders; nothing of them stays", async () => {
  mkdirSync(at(".claude"), { recursive: true });
  writeFileSync(at(".claude/settings.json"), "{}");
  await skill("install");
  await skill("install", "--skill");
  expect(readFileSync(at(".claude/skills/perdure/SKILL.md"), "utf8")).toMatch(/^---\nname: perdure\n/);
  await skill("remove");
  expect(existsSync(at("AGENTS.md"))).toBe(false);
  expect(existsSync(at(".claude/skills"))).toBe(false);
  expect(existsSync(at(".claude/settings.json"))).toBe(true);
});

test("after a checkout with other ends of lines it is replaced and taken out, and what stands around it stays", async () => {
  writeFileSync(at("AGENTS.md"), "mine\n");
  await skill("install");
  const checkedOut = `${readFileSync(at("AGENTS.md"), "utf8")}later\n`.replaceAll("\n", "\r\n");
  writeFileSync(at("AGENTS.md"), checkedOut);
  await skill("install");
  expect(readFileSync(at("AGENTS.md"), "utf8").split("## Other agents of this project")).toHaveLength(2);
  await skill("remove");
  expect(readFileSync(at("AGENTS.md"), "utf8")).toBe("mine\r\nlater\r\n");
});

test("a block whose end was lost is left alone, with what was written behind it", async () => {
  writeFileSync(at("AGENTS.md"), "mine\n");
  await skill("install");
  const torn = `${readFileSync(at("AGENTS.md"), "utf8").replace("<!-- perdure: end -->\n", "")}later\n`;
  writeFileSync(at("AGENTS.md"), torn);
  await skill("remove");
  expect(readFileSync(at("AGENTS.md"), "utf8")).toBe(torn);
  await skill("install");
  await skill("remove");
  expect(readFileSync(at("AGENTS.md"), "utf8")).toBe(torn);
});

test("a file keeps its mode", async () => {
  writeFileSync(at("AGENTS.md"), "mine\n");
  chmodSync(at("AGENTS.md"), 0o664);
  await skill("install");
  expect(statSync(at("AGENTS.md")).mode & 0o777).toBe(0o664);
  await skill("remove");
  expect(statSync(at("AGENTS.md")).mode & 0o777).toBe(0o664);
});

test.each([
  ["AGENTS.md", [], "out of the project"],
  ["CLAUDE.md", ["CLAUDE.md"], "out of the project"],
  [".claude", ["--skill"], "out of the project"],
  ["GEMINI.md", [], "nowhere"],
])("%s as a link with %j is refused: it leads %s", async (name, args, where) => {
  const outside = join(home.dir, "outside");
  if (where !== "nowhere") {
    if (name === ".claude") mkdirSync(outside);
    else writeFileSync(outside, "mine\n");
  }
  symlinkSync(outside, at(name));
  for (const what of ["install", "remove"]) {
    const { code, stderr } = await home.perdure(["skill", what, ...args]);
    expect({ what, code, stderr }).toMatchObject({ code: 5, stderr: expect.stringContaining(where) as string });
  }
  expect(lstatSync(at(name)).isSymbolicLink()).toBe(true);
  const found = statSync(outside, { throwIfNoEntry: false });
  expect(found?.isFile() === true ? readFileSync(outside, "utf8") : "mine\n").toBe("mine\n");
});

test("any other word is refused", async () => {
  const { code, stderr } = await home.perdure(["skill", "instal"]);
  expect(code).toBe(2);
  expect(stderr).toContain('"instal" is neither install nor remove');
});
