import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { BIN, Home } from "../../support/home.ts";

test("retire tells of the mail that nobody will read, of the worktree, and of the entry in perdure.toml", async () => {
  const home = new Home();
  onTestFinished(() => home.clear());
  writeFileSync(join(home.project, "perdure.toml"), '[workers.coder]\ncommand = ["sleep", "60"]\nworktree = true\n');
  const git = (...args: string[]): void => {
    const identity = ["-c", "user.name=a", "-c", "user.email=a@b"];
    execFileSync("git", ["-C", home.project, ...identity, ...args], { env: home.env, stdio: "ignore" });
  };
  git("init", "--quiet");
  git("add", "-A");
  git("commit", "--quiet", "-m", "first");
  expect(await home.perdure(["up", "--yes"])).toMatchObject({ code: 0 });
  await home.perdure(["down"]);
  await home.perdure(["send", "coder", "one"]);
  await home.perdure(["send", "coder", "two"]);

  const { code, stdout, stderr } = await home.perdure(["retire", "coder"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "api/coder is retired; its name is free\n" });
  expect(stderr).toContain("  2 open messages to it are dead now: perdure mail --state dead\n");
  const tree = join(home.dir, "api.worktrees", "coder");
  expect(stderr).toContain(`git worktree remove ${tree}\n`);
  expect(stderr).toContain("remove [workers.coder]");
  expect(existsSync(tree)).toBe(true);
});

test("of a worker that leaves nothing behind, nothing is told", async () => {
  const home = new Home();
  onTestFinished(() => home.clear());
  await home.perdure(["run", "coder", "--", "true"]);
  expect(await home.perdure(["retire", "coder"])).toEqual({
    code: 0,
    stdout: "api/coder is retired; its name is free\n",
    stderr: "",
  });
});

test("what only the operator may do is refused to a worker by the verb that it typed", async () => {
  const home = new Home();
  onTestFinished(() => home.clear());
  await home.perdure(["run", "other", "--", "true"]);
  for (const verb of ["retire", "takeover", "pause"]) {
    const { stdout, stderr } = await home.perdure(["run", "coder", "--", "sh", "-c", `"$0" ${verb} other`, BIN]);
    expect(stdout).toBe("");
    expect(stderr).toContain(`perdure: ${verb}: only the operator may do that, and api/coder is a worker.\n`);
    expect(stderr).toContain("→ ask the operator to run it: perdure send operator TEXT\n");
  }
});
