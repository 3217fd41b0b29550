import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
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
  store.exec("UPDATE workers SET created_ms = 9e15"); // no date
  store.close();
});
afterAll(() => home.clear());

test("an internal error of a verb names the files of src with PERDURE_DEBUG, and shows no stack without", async () => {
  // No file system takes a name of this length, and nobody has a sentence for it.
  const deep = join(home.dir, "d".repeat(300));
  const env = { ...home.env, PERDURE_HOME: deep };
  const plain = await home.perdure(["ls"], { env });
  expect(plain.code).toBe(1);
  expect(plain.stderr).not.toMatch(/^ +at /m);
  const shown = await home.perdure(["ls"], { env: { ...debug, PERDURE_HOME: deep } });
  expect(shown.code).toBe(1);
  expect(shown.stderr).toMatch(/ at .*src\/state\/files\.ts:\d+:\d+/);
  expect(shown.stderr).toMatch(/ at .*src\/commands\/names\/ls\.ts:\d+:\d+/);
  const asScript = await finish(
    spawn(process.execPath, [BIN, "ls"], { cwd: home.project, env: { ...debug, PERDURE_HOME: deep } }),
  );
  expect(asScript.stderr).toMatch(/ at .*src\/commands\/names\/ls\.ts:\d+:\d+/);
});

test("so does the daemon's log", async () => {
  const { code } = await home.perdure(["show", "coder"], { env: debug });
  expect(code).toBe(1);
  expect(log()).toMatch(/ at .*src\/daemon\/.*\.ts:\d+:\d+/);
});
