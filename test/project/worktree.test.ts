import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { findProject } from "../../src/project/find.ts";
import { worktreeBranch, worktreePath, type Worktree } from "../../src/project/worktree-place.ts";
import { makeWorktree } from "../../src/project/worktree.ts";
import { hashTree } from "../support/tree.ts";
import { FleetStage } from "./fleet-stage.ts";

let stage: FleetStage;
let coder: Worktree;
beforeEach(() => {
  stage = new FleetStage();
  coder = worktree("coder");
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await stage.home.clear();
});

function worktree(name: string, copy: string[] = []): Worktree {
  return { path: worktreePath(stage.root, name), branch: worktreeBranch(name), copy };
}

function git(args: string[], cwd = stage.root): string {
  return execFileSync("git", args, { cwd, env: stage.home.env, encoding: "utf8" }).trim();
}

/** With a tracked file, and one that git ignores. */
function repository(): void {
  stage.write(".gitignore", ".env\nlocal/\n");
  stage.write("main.txt", "committed\n");
  stage.home.git(["init", "-q"]);
  stage.home.git(["add", "."]);
  stage.home.git(["commit", "-q", "-m", "first"]);
  stage.write(".env", "KEY=sk-1\n");
}

test("it is made once from what is checked out, on a branch of its own, as a tree of the same project", async () => {
  repository();
  stage.write("main.txt", "not committed\n");
  expect(await makeWorktree(stage.root, coder)).toEqual({ created: true });
  expect(readFileSync(join(coder.path, "main.txt"), "utf8")).toBe("committed\n");
  expect(git(["branch", "--show-current"], coder.path)).toBe("perdure/coder");
  expect(git(["rev-parse", "HEAD"], coder.path)).toBe(git(["rev-parse", "HEAD"]));
  expect(git(["status", "--porcelain"])).toBe("M main.txt");
  expect(git(["status", "--porcelain"], coder.path)).toBe("");
  expect(findProject(coder.path)).toEqual({ ...findProject(stage.root), here: coder.path });
  expect(existsSync(join(stage.home.dir, "api.worktrees", ".gitignore"))).toBe(false);
  expect(await makeWorktree(stage.root, coder)).toEqual({ created: false });
});

test("one that is there is kept to the byte: changes, staged and not, strays, another branch, a copy that was removed", async () => {
  repository();
  await makeWorktree(stage.root, { ...coder, copy: [".env"] });
  git(["switch", "-q", "-c", "elsewhere"], coder.path);
  writeFileSync(join(coder.path, "main.txt"), "changed\n");
  writeFileSync(join(coder.path, "staged.txt"), "staged\n");
  git(["add", "staged.txt"], coder.path);
  writeFileSync(join(coder.path, "stray.txt"), "stray\n");
  rmSync(join(coder.path, ".env"));
  stage.write("main.txt", "the main tree goes on\n");
  stage.home.git(["commit", "-q", "-am", "second"]);
  const [tree, admin] = [coder.path, join(stage.root, ".git")].map((each) => () => hashTree(each));
  const before = [tree?.(), admin?.()];
  expect(await makeWorktree(stage.root, { ...coder, copy: [".env", "none"] })).toEqual({ created: false });
  expect([tree?.(), admin?.()]).toEqual(before);
});

test("a branch that is there is used again, where it was", async () => {
  repository();
  git(["branch", "perdure/coder"]);
  const first = git(["rev-parse", "HEAD"]);
  stage.home.git(["commit", "-q", "--allow-empty", "-m", "second"]);
  expect(await makeWorktree(stage.root, coder)).toEqual({ created: true });
  expect(git(["rev-parse", "HEAD"], coder.path)).toBe(first);
});

test("it is made from a worktree's point of view like from the main one, and inside a git hook", async () => {
  repository();
  await makeWorktree(stage.root, coder);
  vi.stubEnv("GIT_DIR", join(stage.home.dir, "nowhere"));
  vi.stubEnv("GIT_INDEX_FILE", join(stage.home.dir, "index"));
  expect(await makeWorktree(stage.root, worktree("tester"))).toEqual({ created: true });
  expect(await makeWorktree(coder.path, worktree("tester"))).toEqual({ created: false });
});

test("a name that ends like a lock of git's has a branch, too", async () => {
  repository();
  const locked = worktree("pad.lock");
  expect(await makeWorktree(stage.root, locked)).toEqual({ created: true });
  expect(git(["branch", "--show-current"], locked.path)).toBe("perdure/pad.lock-");
});

test("inside somebody else's repository the worktrees keep out of its status", async () => {
  stage.repository();
  stage.home.git(["-c", "protocol.file.allow=always", "submodule", "add", "-q", stage.root, "parts"]);
  stage.home.git(["commit", "-q", "-m", "parts"]);
  const parts = join(stage.root, "parts");
  const own: Worktree = { path: worktreePath(parts, "coder"), branch: "perdure/coder", copy: [] };
  expect(await makeWorktree(parts, own)).toEqual({ created: true });
  expect(git(["status", "--porcelain"])).toBe("");
  expect(findProject(own.path)).toMatchObject({ root: parts, identity: findProject(parts).identity });
});

test("a new one gets its copies, with their modes, and never over what git checked out", async () => {
  repository();
  chmodSync(join(stage.root, ".env"), 0o600);
  stage.write("local/deep/key.pem", "key\n");
  stage.write("main.txt", "not committed\n");
  symlinkSync("local/deep/key.pem", join(stage.root, "linked"));
  const copy = [".env", "local/deep/key.pem", "./local/../main.txt", "linked"];
  await makeWorktree(stage.root, { ...coder, copy });
  const read = (path: string): string => readFileSync(join(coder.path, path), "utf8");
  expect(read(".env")).toBe("KEY=sk-1\n");
  expect(statSync(join(coder.path, ".env")).mode & 0o777).toBe(0o600);
  expect(read("local/deep/key.pem")).toBe("key\n");
  expect(read("main.txt")).toBe("committed\n");
  expect(read("linked")).toBe("key\n");
});

const BAD_COPIES: [what: string, path: string, message: RegExp][] = [
  ["above the project", "../outside.txt", /not inside the project/],
  ["elsewhere", "/etc/passwd", /not inside the project/],
  ["behind a link", "out/outside.txt", /not inside the project/],
  ["a link itself", "out.txt", /not inside the project/],
  ["git's own", ".git/config", /not inside the project/],
  ["git's own behind a link", "config", /not inside the project/],
  ["missing", "none.txt", /there is none in/],
  ["a folder", "local", /is not a file/],
];

test.each(BAD_COPIES)("a copy of what is %s is refused before anything is made", async (_what, path, message) => {
  repository();
  stage.write("local/a", "a");
  stage.write("../outside.txt", "outside");
  symlinkSync(stage.home.dir, join(stage.root, "out"));
  symlinkSync(join(stage.home.dir, "outside.txt"), join(stage.root, "out.txt"));
  symlinkSync(".git/config", join(stage.root, "config"));
  await expect(makeWorktree(stage.root, { ...coder, copy: [path] })).rejects.toMatchObject({
    code: "refused",
    message: expect.stringMatching(message) as string,
    hint: expect.any(String) as string,
  });
  expect(existsSync(join(stage.home.dir, "api.worktrees"))).toBe(false);
  expect(git(["branch", "--list", "perdure/*"])).toBe("");
});

test("a link that git checked out is not copied through, and what stopped in the middle goes on later", async () => {
  repository();
  const outside = join(stage.home.dir, "outside");
  mkdirSync(outside);
  symlinkSync(outside, join(stage.root, "conf"));
  stage.home.git(["add", "conf"]);
  stage.home.git(["commit", "-q", "-m", "a link"]);
  rmSync(join(stage.root, "conf"));
  stage.write("conf/key", "mine");
  const copy = ["conf/key", ".env"];
  await expect(makeWorktree(stage.root, { ...coder, copy })).rejects.toThrow(/conf is not a folder/);
  expect(existsSync(join(outside, "key"))).toBe(false);
  writeFileSync(join(coder.path, "main.txt"), "worked on meanwhile\n");
  expect(await makeWorktree(stage.root, { ...coder, copy: [".env", "main.txt"] })).toEqual({ created: true });
  expect(readFileSync(join(coder.path, ".env"), "utf8")).toBe("KEY=sk-1\n");
  expect(readFileSync(join(coder.path, "main.txt"), "utf8")).toBe("worked on meanwhile\n");
  expect(await makeWorktree(stage.root, coder)).toEqual({ created: false });
});

test("what is in its place is left alone: a file, a folder with something in it, another repository, a link", async () => {
  repository();
  const there: (() => void)[] = [
    () => writeFileSync(coder.path, "a file"),
    () => (mkdirSync(coder.path), writeFileSync(join(coder.path, "a"), "")),
    () => stage.home.git(["init", "-q", coder.path]),
    () => symlinkSync(stage.root, coder.path),
  ];
  mkdirSync(join(stage.home.dir, "api.worktrees"));
  for (const make of there) {
    make();
    const failed = makeWorktree(stage.root, coder);
    await expect(failed).rejects.toMatchObject({ code: "conflict", hint: expect.stringMatching(/ls -la/) as string });
    rmSync(coder.path, { recursive: true });
  }
  mkdirSync(coder.path);
  expect(await makeWorktree(stage.root, coder)).toEqual({ created: true });
});

test("worktrees are not made through a link in place of their folder", async () => {
  repository();
  mkdirSync(join(stage.home.dir, "elsewhere"));
  symlinkSync(join(stage.home.dir, "elsewhere"), join(stage.home.dir, "api.worktrees"));
  await expect(makeWorktree(stage.root, coder)).rejects.toThrow(/is a link/);
});

test("without git's help the reason and the next step are told", async () => {
  const failing = async (act = coder): Promise<unknown> =>
    makeWorktree(stage.root, act).catch((error: unknown) => error);
  expect(await failing()).toMatchObject({
    code: "refused",
    message: expect.stringMatching(/not a git repo/) as string,
  });
  stage.home.git(["init", "-q"]);
  expect(await failing()).toMatchObject({ hint: "git commit --allow-empty -m first" });
  stage.home.git(["commit", "-q", "--allow-empty", "-m", "first"]);

  git(["switch", "-q", "-c", "perdure/coder"]);
  expect(await failing()).toMatchObject({
    message: expect.stringMatching(/already checked out|already used/) as string,
  });
  expect(existsSync(coder.path)).toBe(false);

  const tester = worktree("tester");
  await makeWorktree(stage.root, tester);
  rmSync(tester.path, { recursive: true });
  expect(await failing(tester)).toMatchObject({ hint: expect.stringMatching(/worktree prune$/) as string });

  vi.stubEnv("PATH", stage.home.dir);
  expect(await failing()).toMatchObject({ code: "unavailable", hint: expect.stringMatching(/install git/) as string });
});

test("one that git was killed in the middle of is not taken for whole", async () => {
  repository();
  await makeWorktree(stage.root, coder);
  writeFileSync(join(stage.root, ".git/worktrees/coder/locked"), "initializing\n");
  await expect(makeWorktree(stage.root, coder)).rejects.toMatchObject({
    hint: expect.stringMatching(/worktree remove -f -f/) as string,
  });
});
