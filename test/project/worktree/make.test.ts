import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { findProject, repositoryOf } from "../../../src/project/find.ts";
import { worktreePath, type Worktree } from "../../../src/project/worktree/paths.ts";
import { makeWorktree } from "../../../src/project/worktree/make.ts";
import { hashTree } from "../../support/tree.ts";
import { FleetStage } from "../fleet/stage.ts";

let stage: FleetStage;
let coder: Worktree;
beforeEach(() => {
  stage = new FleetStage();
  coder = stage.worktree("coder");
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await stage.home.clear();
});

test("it is made once from what is checked out, on a branch of its own, as a tree of the same project", async () => {
  stage.filledRepository();
  stage.write("main.txt", "not committed\n");
  expect(await makeWorktree(stage.root, coder)).toEqual({ created: true });
  expect(readFileSync(join(coder.path, "main.txt"), "utf8")).toBe("committed\n");
  expect(stage.git(["branch", "--show-current"], coder.path)).toBe("perdure/coder");
  expect(stage.git(["rev-parse", "HEAD"], coder.path)).toBe(stage.git(["rev-parse", "HEAD"]));
  expect(stage.git(["status", "--porcelain"])).toBe("M main.txt");
  expect(stage.git(["status", "--porcelain"], coder.path)).toBe("");
  expect(findProject(coder.path)).toEqual({ ...findProject(stage.root), here: coder.path });
  expect(existsSync(join(stage.home.dir, "api.worktrees", ".gitignore"))).toBe(false);
  expect(await makeWorktree(stage.root, coder)).toEqual({ created: false });
});

test("one that is there is kept to the byte: changes, staged and not, strays, another branch, a copy that was removed", async () => {
  stage.filledRepository();
  await makeWorktree(stage.root, { ...coder, copy: [".env"] });
  stage.git(["switch", "-q", "-c", "elsewhere"], coder.path);
  writeFileSync(join(coder.path, "main.txt"), "changed\n");
  writeFileSync(join(coder.path, "staged.txt"), "staged\n");
  stage.git(["add", "staged.txt"], coder.path);
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
  stage.filledRepository();
  stage.git(["branch", "perdure/coder"]);
  const first = stage.git(["rev-parse", "HEAD"]);
  stage.home.git(["commit", "-q", "--allow-empty", "-m", "second"]);
  expect(await makeWorktree(stage.root, coder)).toEqual({ created: true });
  expect(stage.git(["rev-parse", "HEAD"], coder.path)).toBe(first);
});

test("it is made from a worktree's point of view like from the main one, and inside a git hook", async () => {
  stage.filledRepository();
  await makeWorktree(stage.root, coder);
  vi.stubEnv("GIT_DIR", join(stage.home.dir, "nowhere"));
  vi.stubEnv("GIT_INDEX_FILE", join(stage.home.dir, "index"));
  expect(await makeWorktree(stage.root, stage.worktree("tester"))).toEqual({ created: true });
  expect(await makeWorktree(coder.path, stage.worktree("tester"))).toEqual({ created: false });
});

test("a name that ends like a lock of git's has a branch, too", async () => {
  stage.filledRepository();
  const locked = stage.worktree("pad.lock");
  expect(await makeWorktree(stage.root, locked)).toEqual({ created: true });
  expect(stage.git(["branch", "--show-current"], locked.path)).toBe("perdure/pad.lock-");
});

test("inside somebody else's repository the worktrees keep out of its status", async () => {
  stage.repository();
  stage.home.git(["-c", "protocol.file.allow=always", "submodule", "add", "-q", stage.root, "parts"]);
  stage.home.git(["commit", "-q", "-m", "parts"]);
  const parts = join(stage.root, "parts");
  const own: Worktree = { path: worktreePath(parts, "coder"), branch: "perdure/coder", copy: [] };
  expect(await makeWorktree(parts, own)).toEqual({ created: true });
  expect(stage.git(["status", "--porcelain"])).toBe("");
  expect(findProject(own.path)).toMatchObject({ root: parts, identity: findProject(parts).identity });
});

test("what is in its place is left alone: a file, a folder with something in it, another repository, a link", async () => {
  stage.filledRepository();
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
  stage.filledRepository();
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

  stage.git(["switch", "-q", "-c", "perdure/coder"]);
  expect(await failing()).toMatchObject({
    message: expect.stringMatching(/already checked out|already used/) as string,
  });
  expect(existsSync(coder.path)).toBe(false);

  const tester = stage.worktree("tester");
  await makeWorktree(stage.root, tester);
  rmSync(tester.path, { recursive: true });
  expect(await failing(tester)).toMatchObject({ hint: expect.stringMatching(/worktree prune$/) as string });

  vi.stubEnv("PATH", stage.home.dir);
  expect(await failing()).toMatchObject({ code: "unavailable", hint: expect.stringMatching(/install git/) as string });
});

test("one that git was killed in the middle of is not taken for whole", async () => {
  stage.filledRepository();
  await makeWorktree(stage.root, coder);
  writeFileSync(join(stage.root, ".git/worktrees/coder/locked"), "initializing\n");
  await expect(makeWorktree(stage.root, coder)).rejects.toMatchObject({
    hint: expect.stringMatching(/worktree remove -f -f/) as string,
  });
});

test("a hook of the repository that reads, talks and fails hides nothing and breaks nothing", async () => {
  stage.filledRepository();
  const hook = stage.write(
    ".git/hooks/post-checkout",
    "#!/bin/sh\ncat\nyes | head -c 3000000 >&2\necho no >&2\nexit 1\n",
  );
  chmodSync(hook, 0o755);
  await expect(makeWorktree(stage.root, { ...coder, copy: [".env"] })).rejects.toThrow(
    /git could not make the worktree/,
  );
  expect(await makeWorktree(stage.root, { ...coder, copy: [".env"] })).toEqual({ created: true });
  expect(existsSync(join(coder.path, ".env"))).toBe(true);
});

test("after a move of everything, git's own repair is all it takes", async () => {
  stage.filledRepository();
  await makeWorktree(stage.root, coder);
  const root = join(stage.home.dir, "shop");
  renameSync(stage.root, root);
  renameSync(join(stage.home.dir, "api.worktrees"), join(stage.home.dir, "shop.worktrees"));
  const moved = { ...coder, path: worktreePath(root, "coder") };
  await expect(makeWorktree(root, moved)).rejects.toMatchObject({
    hint: expect.stringMatching(/git -C .*shop worktree repair .*shop\.worktrees\/coder$/) as string,
  });
  stage.git(["worktree", "repair", moved.path], root);
  expect(await makeWorktree(root, moved)).toEqual({ created: false });
});

test("a bare repository among its trees: the same place from each, and a folder there is not taken for a worktree", async () => {
  stage.filledRepository();
  const hub = join(stage.home.dir, "hub");
  stage.home.git(["clone", "-q", "--bare", stage.root, join(hub, ".bare")]);
  writeFileSync(join(hub, ".git"), "gitdir: ./.bare\n");
  stage.home.git(["worktree", "add", "-q", join(hub, "main")], hub);
  const [own, ...others] = [hub, join(hub, "main"), join(hub, ".bare")].map((cwd) => ({
    ...coder,
    path: worktreePath(repositoryOf(findProject(cwd)), "coder"),
  }));
  expect(others).toEqual([own, own]);
  if (own === undefined) throw new Error("no worktree");
  mkdirSync(own.path, { recursive: true });
  writeFileSync(join(own.path, "a"), "");
  await expect(makeWorktree(join(hub, "main"), own)).rejects.toMatchObject({ code: "conflict" });
  rmSync(own.path, { recursive: true });
  expect(await makeWorktree(join(hub, "main"), own)).toEqual({ created: true });
  expect(await makeWorktree(join(hub, "main"), own)).toEqual({ created: false });
});
