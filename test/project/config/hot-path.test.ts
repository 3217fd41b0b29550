import { cpSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { spawn } from "node:child_process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { finish, Home } from "../../support/home.ts";

// Reading and running the checkers takes as long as `whoami` itself. Here is a perdure without them.

const home = new Home();
const root = resolve(import.meta.dirname, "../../..");

beforeAll(() => {
  for (const part of ["bin", "dist", "package.json"])
    cpSync(join(root, part), join(home.dir, "perdure", part), { recursive: true });
  for (const file of ["config-check.cjs", "toml-positions.cjs", "string-width.cjs", "jsonc-parser.cjs"])
    rmSync(join(home.dir, "perdure/dist", file));
});
afterAll(() => home.clear());

async function perdure(args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { ...home.env, PERDURE_HOME: join(home.dir, "state") };
  return finish(spawn(join(home.dir, "perdure/bin/perdure.js"), args, { cwd: home.project, env }));
}

const FLEET = `
project = "shop"
name = "lead"
[defaults]
vendor = "claude"
env = { A = "x" }
[workers.coder]
count = 2
[context]
dir = ".ai"
[policy]
agents_may = ["send"]
`;

test("whoami and context know who and where without loading a checker", async () => {
  writeFileSync(join(home.project, "perdure.toml"), FLEET);
  expect((await perdure(["whoami"])).stdout).toMatch(/^shop\/lead\n/);
  expect((await perdure(["context", "path"])).stdout).toBe(".ai/session-context.d/lead.md\n");
  expect(await perdure(["ls"])).toMatchObject({
    code: 0,
    stderr: expect.not.stringContaining("config-check") as string,
  });
});

test("without a file nobody loads one", async () => {
  rmSync(join(home.project, "perdure.toml"), { force: true });
  expect(await perdure(["run", "coder", "--", "true"])).toMatchObject({ code: 0 });
  expect((await perdure(["ls"])).stdout).toContain("coder");
  await perdure(["daemon", "stop"]);
});

test("a file that looks wrong is checked", async () => {
  writeFileSync(join(home.project, "perdure.toml"), FLEET.replace("dir =", "dri ="));
  const { code, stderr } = await perdure(["whoami"]);
  expect(code).toBe(1);
  expect(stderr).toContain("config-check.cjs");
});
