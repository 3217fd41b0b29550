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
import { FleetProject } from "../fleet/fleet-project.ts";

let project: FleetProject;
let coder: Worktree;
beforeEach(() => {
  project = new FleetProject();
  coder = project.worktree("coder");
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await project.home.clear();
});

test("a worktree is made once from what is checked out, on a branch of its own, as a tree of the same project", async () => {
  project.filledRepository();
  project.write("main.txt", "not committed\n");
  expect(await makeWorktree(project.root, coder)).toEqual({ created: true });
  expect(readFileSync(join(coder.path, "main.txt"), "utf8")).toBe("committed\n");
  expect(project.git(["branch", "--show-current"], coder.path)).toBe("perdure/coder");
  expect(project.git(["rev-parse", "HEAD"], coder.path)).toBe(project.git(["rev-parse", "HEAD"]));
  expect(project.git(["status", "--porcelain"])).toBe("M main.txt");
  expect(project.git(["status", "--porcelain"], coder.path)).toBe("");
  expect(findProject(coder.path)).toEqual({ ...findProject(project.root), here: coder.path });
  expect(existsSync(join(project.home.dir, "api.worktrees", ".gitignore"))).toBe(false);
  expect(await makeWorktree(project.root, coder)).toEqual({ created: false });
});

test("an existing worktree is kept to the byte: changes, staged and not, strays, another branch, a copy that was removed", async () => {
  project.filledRepository();
  await makeWorktree(project.root, { ...coder, copy: [".env"] });
  project.git(["switch", "-q", "-c", "elsewhere"], coder.path);
  writeFileSync(join(coder.path, "main.txt"), "changed\n");
  writeFileSync(join(coder.path, "staged.txt"), "staged\n");
  project.git(["add", "staged.txt"], coder.path);
  writeFileSync(join(coder.path, "stray.txt"), "stray\n");
  rmSync(join(coder.path, ".env"));
  project.write("main.txt", "the main tree goes on\n");
  project.home.git(["commit", "-q", "-am", "second"]);
  const [tree, admin] = [coder.path, join(project.root, ".git")].map((each) => () => hashTree(each));
  const before = [tree?.(), admin?.()];
  expect(await makeWorktree(project.root, { ...coder, copy: [".env", "none"] })).toEqual({ created: false });
  expect([tree?.(), admin?.()]).toEqual(before);
});

/** Names programs of the repository's own that leave a mark when git runs them; returns the marks that are there. */
function plantPrograms(): () => string[] {
  const names = ["post-checkout", "reference-transaction", "post-index-change", "fsmonitor"];
  for (const name of names) {
    const file = project.write(`.git/hooks/${name}`, `#!/bin/sh\ntouch ${join(project.home.dir, `ran-${name}`)}\n`);
    chmodSync(file, 0o755);
  }
  project.git(["config", "core.fsmonitor", join(project.root, ".git/hooks/fsmonitor")]);
  return () => names.filter((name) => existsSync(join(project.home.dir, `ran-${name}`)));
}

test("no hook and no file system monitor of the repository runs, unless the fleet file says so", async () => {
  project.filledRepository();
  const ran = plantPrograms();
  await makeWorktree(project.root, coder);
  expect(ran()).toEqual([]);
  await makeWorktree(project.root, { ...project.worktree("tester"), hooks: true });
  expect(ran()).toEqual(expect.arrayContaining(["post-checkout", "reference-transaction"]));
});

test("a branch that is there is used again, where it was", async () => {
  project.filledRepository();
  project.git(["branch", "perdure/coder"]);
  const first = project.git(["rev-parse", "HEAD"]);
  project.home.git(["commit", "-q", "--allow-empty", "-m", "second"]);
  expect(await makeWorktree(project.root, coder)).toEqual({ created: true });
  expect(project.git(["rev-parse", "HEAD"], coder.path)).toBe(first);
});

test("a worktree can be made from another worktree, and inside a git hook", async () => {
  project.filledRepository();
  await makeWorktree(project.root, coder);
  vi.stubEnv("GIT_DIR", join(project.home.dir, "nowhere"));
  vi.stubEnv("GIT_INDEX_FILE", join(project.home.dir, "index"));
  expect(await makeWorktree(project.root, project.worktree("tester"))).toEqual({ created: true });
  expect(await makeWorktree(coder.path, project.worktree("tester"))).toEqual({ created: false });
});

test("a name that ends like a lock of git's has a branch, too", async () => {
  project.filledRepository();
  const locked = project.worktree("pad.lock");
  expect(await makeWorktree(project.root, locked)).toEqual({ created: true });
  expect(project.git(["branch", "--show-current"], locked.path)).toBe("perdure/pad.lock-");
});

test("inside somebody else's repository the worktrees keep out of its status", async () => {
  project.repository();
  project.home.git(["-c", "protocol.file.allow=always", "submodule", "add", "-q", project.root, "parts"]);
  project.home.git(["commit", "-q", "-m", "parts"]);
  const parts = join(project.root, "parts");
  const own: Worktree = { path: worktreePath(parts, "coder"), branch: "perdure/coder", copy: [] };
  expect(await makeWorktree(parts, own)).toEqual({ created: true });
  expect(project.git(["status", "--porcelain"])).toBe("");
  expect(findProject(own.path)).toMatchObject({ root: parts, identity: findProject(parts).identity });
});

test("things in the worktree's place are left alone: a file, a folder with something in it, another repository, a link", async () => {
  project.filledRepository();
  const there: (() => void)[] = [
    () => writeFileSync(coder.path, "a file"),
    () => (mkdirSync(coder.path), writeFileSync(join(coder.path, "a"), "")),
    () => project.home.git(["init", "-q", coder.path]),
    () => symlinkSync(project.root, coder.path),
  ];
  mkdirSync(join(project.home.dir, "api.worktrees"));
  for (const make of there) {
    make();
    const failed = makeWorktree(project.root, coder);
    await expect(failed).rejects.toMatchObject({ code: "conflict", hint: expect.stringMatching(/ls -la/) as string });
    rmSync(coder.path, { recursive: true });
  }
  mkdirSync(coder.path);
  expect(await makeWorktree(project.root, coder)).toEqual({ created: true });
});

test("worktrees are not made through a link in place of their folder", async () => {
  project.filledRepository();
  mkdirSync(join(project.home.dir, "elsewhere"));
  symlinkSync(join(project.home.dir, "elsewhere"), join(project.home.dir, "api.worktrees"));
  await expect(makeWorktree(project.root, coder)).rejects.toThrow(/is a symbolic link/);
});

test("without git's help the reason and the next step are told", async () => {
  const failing = async (act = coder): Promise<unknown> =>
    makeWorktree(project.root, act).catch((error: unknown) => error);
  expect(await failing()).toMatchObject({
    code: "refused",
    message: expect.stringMatching(/not a git repo/) as string,
  });
  project.home.git(["init", "-q"]);
  expect(await failing()).toMatchObject({ hint: "git commit --allow-empty -m first" });
  project.home.git(["commit", "-q", "--allow-empty", "-m", "first"]);

  project.git(["switch", "-q", "-c", "perdure/coder"]);
  expect(await failing()).toMatchObject({
    message: expect.stringMatching(/already checked out|already used/) as string,
  });
  expect(existsSync(coder.path)).toBe(false);

  const tester = project.worktree("tester");
  await makeWorktree(project.root, tester);
  rmSync(tester.path, { recursive: true });
  expect(await failing(tester)).toMatchObject({ hint: expect.stringMatching(/worktree prune$/) as string });

  vi.stubEnv("PATH", project.home.dir);
  expect(await failing()).toMatchObject({ code: "unavailable", hint: expect.stringMatching(/install git/) as string });
});

test("a worktree whose making was killed is not taken for whole", async () => {
  project.filledRepository();
  await makeWorktree(project.root, coder);
  writeFileSync(join(project.root, ".git/worktrees/coder/locked"), "initializing\n");
  await expect(makeWorktree(project.root, coder)).rejects.toMatchObject({
    hint: expect.stringMatching(/worktree remove -f -f/) as string,
  });
});

test("a hook of the repository that reads, talks and fails hides nothing and breaks nothing", async () => {
  project.filledRepository();
  const hook = project.write(
    ".git/hooks/post-checkout",
    "#!/bin/sh\ncat\nyes | head -c 3000000 >&2\necho no >&2\nexit 1\n",
  );
  chmodSync(hook, 0o755);
  const hooked = { ...coder, copy: [".env"], hooks: true };
  await expect(makeWorktree(project.root, hooked)).rejects.toThrow(/git could not create the worktree/);
  expect(await makeWorktree(project.root, hooked)).toEqual({ created: true });
  expect(existsSync(join(coder.path, ".env"))).toBe(true);
});

test("after a move of everything, git's own repair is all it takes", async () => {
  project.filledRepository();
  await makeWorktree(project.root, coder);
  const root = join(project.home.dir, "shop");
  renameSync(project.root, root);
  renameSync(join(project.home.dir, "api.worktrees"), join(project.home.dir, "shop.worktrees"));
  const moved = { ...coder, path: worktreePath(root, "coder") };
  await expect(makeWorktree(root, moved)).rejects.toMatchObject({
    hint: expect.stringMatching(/git -C .*shop worktree repair .*shop\.worktrees\/coder$/) as string,
  });
  project.git(["worktree", "repair", moved.path], root);
  expect(await makeWorktree(root, moved)).toEqual({ created: false });
});

test("a bare repository among its trees: the same place from each, and a folder there is not taken for a worktree", async () => {
  project.filledRepository();
  const hub = join(project.home.dir, "hub");
  project.home.git(["clone", "-q", "--bare", project.root, join(hub, ".bare")]);
  writeFileSync(join(hub, ".git"), "gitdir: ./.bare\n");
  project.home.git(["worktree", "add", "-q", join(hub, "main")], hub);
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
