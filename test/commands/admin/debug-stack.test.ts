import { spawn } from "node:child_process";
import { readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BIN, finish, Home } from "../../support/home.ts";

// A stack of the minified bundles is worth nothing unless it names the files of src.

const home = new Home();
const debug = { ...home.env, PERDURE_DEBUG: "1" };
const log = (): string => readFileSync(join(home.state, "logs", "daemon.log"), "utf8");

beforeAll(async () => {
  await home.perdure(["run", "coder", "--", "true"]);
  await home.perdure(["daemon", "stop"]);
  const store = new DatabaseSync(join(home.state, "perdure.db"));
  store.exec("UPDATE workers SET command = 'no JSON'");
  store.close();
});
afterAll(() => home.clear());

test("an internal error of a verb names the files of src with PERDURE_DEBUG, and shows no stack without", async () => {
  symlinkSync("perdure.toml", join(home.project, "perdure.toml")); // a link to itself: nobody thought of that
  const plain = await home.perdure(["whoami"]);
  expect(plain.code).toBe(1);
  expect(plain.stderr).not.toMatch(/^ +at /m);
  const shown = await home.perdure(["whoami"], { env: debug });
  expect(shown.code).toBe(1);
  expect(shown.stderr).toMatch(/ at .*src\/state\/files\.ts:\d+:\d+/);
  expect(shown.stderr).toMatch(/ at .*src\/cli\.ts:\d+:\d+/);
  const asScript = await finish(spawn(process.execPath, [BIN, "whoami"], { cwd: home.project, env: debug }));
  expect(asScript.stderr).toMatch(/ at .*src\/cli\.ts:\d+:\d+/);
});

test("so does the daemon's log", async () => {
  rmSync(join(home.project, "perdure.toml"), { force: true });
  const { code } = await home.perdure(["show", "coder"], { env: debug });
  expect(code).toBe(1);
  expect(log()).toMatch(/ at .*src\/daemon\/.*\.ts:\d+:\d+/);
});
