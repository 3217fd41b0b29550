import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Home, type Finished } from "../../support/home.ts";

const TABLE = '[workers.coder]\nvendor = "scripted"\n';

function freshHome(): Home {
  const home = new Home();
  onTestFinished(async () => {
    await home.perdure(["down"]);
    await home.clear();
  });
  return home;
}

function fileOf(home: Home): string {
  return join(home.project, "perdure.toml");
}

function textOf(home: Home): string {
  return readFileSync(fileOf(home), "utf8");
}

async function add(home: Home, ...more: string[]): Promise<Finished> {
  return home.perdure(["up", "coder", "--vendor", "scripted", ...more]);
}

test("up NAME with a command makes the fleet file, trusts it, and starts the worker without a question", async () => {
  const home = freshHome();
  const { code, stderr } = await add(home);
  expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining(`added to ${fileOf(home)}:`) });
  expect(textOf(home)).toBe(TABLE);
  expect(await home.json(["up"])).toMatchObject({ running: 1, started: 0 });
  // The same once more changes nothing.
  expect((await add(home)).code).toBe(0);
  expect(textOf(home)).toBe(TABLE);
  await home.perdure(["up", "build", "--", "sh", "-c", "sleep 600"]);
  expect(textOf(home)).toBe(`${TABLE}\n[workers.build]\ncommand = ["sh", "-c", "sleep 600"]\n`);
  expect(await home.json(["up"])).toMatchObject({ running: 2, refused: 0 });
});

test("a file that is there keeps its text and its rights, and is trusted as it is first", async () => {
  const home = freshHome();
  const before = `# the fleet\n[workers.other]\ncommand = ["sleep", "600"]\n`;
  writeFileSync(fileOf(home), before);
  chmodSync(fileOf(home), 0o640);
  expect(await add(home)).toMatchObject({ code: 5, stderr: expect.stringContaining("is not trusted yet") as string });
  expect(textOf(home)).toBe(before);
  expect((await add(home, "--yes")).code).toBe(0);
  expect(textOf(home)).toBe(`${before}\n${TABLE}`);
  expect(statSync(fileOf(home)).mode & 0o777).toBe(0o640);
  // Somebody changes it: the next worker waits for a person.
  writeFileSync(fileOf(home), `${textOf(home)}\n[workers.stranger]\ncommand = ["sleep", "600"]\n`);
  const refused = await home.perdure(["up", "third", "--vendor", "scripted"]);
  expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining("has changed since you agreed to run it") });
  expect(textOf(home)).not.toContain("third");
});

test("settings without a worker are asked about, comments are not", async () => {
  const home = freshHome();
  writeFileSync(fileOf(home), '[defaults]\nenv = { A = "b" }\n');
  expect(await add(home)).toMatchObject({
    code: 5,
    stderr: expect.stringMatching(/It sets:\n.*\[defaults\]\n.*env\.A = …/),
  });
  writeFileSync(fileOf(home), "# nothing yet\n");
  expect((await add(home)).code).toBe(0);
  expect(textOf(home)).toBe(`# nothing yet\n\n${TABLE}`);
});

const OBSTACLES: [what: string, plant: (home: Home) => void, why: RegExp][] = [
  [
    "a link",
    (home) => {
      writeFileSync(join(home.dir, "shared.toml"), "# shared\n");
      symlinkSync(join(home.dir, "shared.toml"), fileOf(home));
    },
    /was not changed: it is a link/,
  ],
  ["a read-only file", (home) => writeFileSync(fileOf(home), "# mine\n", { mode: 0o444 }), /it is read-only/],
  [
    "a conflicted file",
    (home) => writeFileSync(fileOf(home), "<<<<<<< HEAD\n[workers.a]\n=======\n>>>>>>> theirs\n"),
    /perdure\.toml:1/,
  ],
  ["an inline table", (home) => writeFileSync(fileOf(home), "workers = {}\n"), /would not be read as one more worker/],
];

test.each(OBSTACLES)("%s is left alone, and the lines are printed", async (_what, plant, why) => {
  const home = freshHome();
  plant(home);
  const before = textOf(home);
  const { code, stderr } = await add(home, "--yes");
  expect({ code, stderr }).toMatchObject({ code: 5, stderr: expect.stringMatching(why) });
  expect(stderr).toContain(TABLE);
  expect(stderr).toMatch(/add the lines above to it, then: perdure up coder/);
  expect(textOf(home)).toBe(before);
  expect(await home.json(["ls"])).toMatchObject({ workers: [] });
});

test("what cannot be started, or is another worker already, changes nothing", async () => {
  const home = freshHome();
  const answers: [args: string[], code: number, stderr: RegExp][] = [
    [["up", "coder", "--", "no-such-program"], 3, /Cannot start "no-such-program"/],
    [["up", "coder", "--vendor", "nobody"], 2, /There is no vendor/],
    [["up", "coder", "--vendor", "custom"], 2, /declared words/],
    [["up", "all", "--vendor", "scripted"], 2, /that word is reserved/],
    [["up", "--", "sleep", "1"], 2, /needs a NAME/],
    [["up", "a", "b", "--", "sleep", "1"], 2, /starts one worker/],
    [["up", "coder", "--"], 2, /nothing follows --/],
    [["up", "coder", "--session", "s", "--", "sleep", "1"], 2, /cannot be combined/],
  ];
  for (const [args, code, stderr] of answers) {
    expect(await home.perdure(args)).toMatchObject({ code, stderr: expect.stringMatching(stderr) as string });
  }
  expect(existsSync(fileOf(home))).toBe(false);
  await add(home);
  const other = await home.perdure(["up", "CODER", "--", "sleep", "600"]);
  expect(other).toMatchObject({ code: 4, stderr: expect.stringContaining("with another command") as string });
  expect(textOf(home)).toBe(TABLE);
});

test("from a folder of the project the worker works there; an agent may not add one", async () => {
  const home = freshHome();
  home.git(["init", "-q"]);
  mkdirSync(join(home.project, "services/api"), { recursive: true });
  const cwd = join(home.project, "services/api");
  await home.perdure(["up", "coder", "--vendor", "scripted"], { cwd });
  expect(textOf(home)).toBe(`${TABLE}cwd = "services/api"\n`);
  const inside = `${process.env.PATH}`;
  const { child } = await home.start("agent", ["sh", "-c", `exec sleep 600`], { env: { ...home.env, PATH: inside } });
  child.kill();
});

test("asked for in another working tree, it is said before the start in which folder and on which branch it will be", async () => {
  const home = freshHome();
  home.git(["init", "-q", "-b", "trunk"]);
  home.git(["commit", "-q", "--allow-empty", "-m", "first"]);
  const tree = join(home.dir, "tree");
  home.git(["worktree", "add", "-q", "-b", "feature", tree]);
  const { code, stderr } = await home.perdure(["up", "coder", "--vendor", "scripted"], { cwd: tree });
  expect(code).toBe(0);
  const told = `coder will be in ${home.project} (branch trunk), not in this worktree, ${tree} (branch feature):\n`;
  expect(stderr).toContain(told);
  expect(stderr.indexOf(told)).toBeLessThan(stderr.indexOf("added to"));
  // A worktree below the main tree has a folder that the file can name.
  const below = join(home.project, "trees/below");
  home.git(["worktree", "add", "-q", "-b", "other", below]);
  const there = await home.perdure(["up", "second", "--vendor", "scripted"], { cwd: below });
  expect(there.stderr).not.toContain("will be in");
  expect(textOf(home)).toContain('cwd = "trees/below"');
});

test("up --all and down --all are about every project", async () => {
  const home = freshHome();
  const other = join(home.dir, "web");
  mkdirSync(other);
  await add(home);
  await home.perdure(["up", "page", "--", "sleep", "600"], { cwd: other });
  expect(await home.json(["down", "--all"])).toMatchObject({ stopped: 2, failed: 0, count: 2 });
  expect(await home.json(["up", "--all"], { cwd: home.dir })).toMatchObject({
    started: 2,
    refused: 0,
    projects: [{ project: "api" }, { project: "web" }],
  });
  // A file that somebody has changed since is not run, and not asked about.
  await home.perdure(["down", "--all"]);
  writeFileSync(join(other, "perdure.toml"), '[workers.stranger]\ncommand = ["sleep", "600"]\n');
  const { code, stderr } = await home.perdure(["up", "--all"], { cwd: home.dir });
  expect({ code, stderr }).toMatchObject({
    code: 5,
    stderr: expect.stringMatching(/web[^]*is not trusted as it is now: cd/),
  });
  expect(await home.perdure(["up", "--all", "coder"])).toMatchObject({ code: 2 });
  await home.perdure(["down", "--all"]);
});
