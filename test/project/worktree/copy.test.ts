import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Worktree } from "../../../src/project/worktree/paths.ts";
import { makeWorktree } from "../../../src/project/worktree/make.ts";
import { FleetProject } from "../fleet/fleet-project.ts";

let project: FleetProject;
let coder: Worktree;
beforeEach(() => {
  project = new FleetProject();
  coder = project.worktree("coder");
});
afterEach(() => project.home.clear());

test("a new worktree gets its copies, with their modes, and never over what git checked out", async () => {
  project.filledRepository();
  chmodSync(join(project.root, ".env"), 0o600);
  project.write("local/deep/key.pem", "key\n");
  project.write("main.txt", "not committed\n");
  symlinkSync("local/deep/key.pem", join(project.root, "linked"));
  const copy = [".env", "local/deep/key.pem", "./local/../main.txt", "linked"];
  await makeWorktree(project.root, { ...coder, copy });
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
  ["missing", "none.txt", /does not exist in/],
  ["a folder", "local", /is not a file/],
];

test.each(BAD_COPIES)("a copy of what is %s is refused before anything is made", async (_what, path, message) => {
  project.filledRepository();
  project.write("local/a", "a");
  project.write("../outside.txt", "outside");
  symlinkSync(project.home.dir, join(project.root, "out"));
  symlinkSync(join(project.home.dir, "outside.txt"), join(project.root, "out.txt"));
  symlinkSync(".git/config", join(project.root, "config"));
  await expect(makeWorktree(project.root, { ...coder, copy: [path] })).rejects.toMatchObject({
    code: "refused",
    message: expect.stringMatching(message) as string,
    hint: expect.any(String) as string,
  });
  expect(existsSync(join(project.home.dir, "api.worktrees"))).toBe(false);
  expect(project.git(["branch", "--list", "perdure/*"])).toBe("");
});

test("a link that git checked out is not copied through, and what stopped in the middle goes on later", async () => {
  project.filledRepository();
  const outside = join(project.home.dir, "outside");
  mkdirSync(outside);
  symlinkSync(outside, join(project.root, "conf"));
  project.home.git(["add", "conf"]);
  project.home.git(["commit", "-q", "-m", "a link"]);
  rmSync(join(project.root, "conf"));
  project.write("conf/key", "mine");
  const copy = ["conf/key", ".env"];
  await expect(makeWorktree(project.root, { ...coder, copy })).rejects.toThrow(/conf is not a folder/);
  expect(existsSync(join(outside, "key"))).toBe(false);
  writeFileSync(join(coder.path, "main.txt"), "worked on meanwhile\n");
  expect(await makeWorktree(project.root, { ...coder, copy: [".env", "main.txt"] })).toEqual({ created: true });
  expect(readFileSync(join(coder.path, ".env"), "utf8")).toBe("KEY=sk-1\n");
  expect(readFileSync(join(coder.path, "main.txt"), "utf8")).toBe("worked on meanwhile\n");
  expect(await makeWorktree(project.root, coder)).toEqual({ created: false });
});
