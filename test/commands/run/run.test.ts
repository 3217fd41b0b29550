import { personaInstaller } from "../../support/persona-installer.ts";
import { mkdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { History } from "../../../src/protocol/records/run.ts";
import type { WorkerDetail } from "../../../src/protocol/records/worker.ts";
import { BIN, finish, Home } from "../../support/home.ts";

const installPersona = personaInstaller();

let home: Home;
beforeEach(() => {
  home = new Home();
});
afterEach(() => home.clear());

test.each([
  ["its own code", "exit 7", 7, 7, "exited"],
  ["128 + the signal that killed it", "kill -TERM $$", 143, 143, "SIGTERM"],
  ["128 + 9 after SIGKILL", "kill -KILL $$", 137, 137, "SIGKILL"],
])("run exits with %s, and history says why", async (_what, script, code, exit, reason) => {
  expect(await home.perdure(["run", "coder", "--", "sh", "-c", script])).toMatchObject({ code });
  await expect.poll(() => home.json(["history", "coder"])).toMatchObject({ runs: [{ exit, reason }] });
});

test("stdin, stdout and stderr are the program's own", async () => {
  const child = home.spawn(["run", "coder", "--", "sh", "-c", "cat; echo talk >&2"], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  const ending = finish(child);
  child.stdin?.end("through\n");
  expect(await ending).toEqual({ code: 0, stdout: "through\n", stderr: "talk\n" });
});

test("arguments arrive byte for byte, --json and -- among them", async () => {
  const words = ["a b", "", "$HOME", "*", "'\"\\", "--json", "--", "-f", "é\n"];
  const { stdout } = await home.perdure(["run", "coder", "--", "printf", "<%s>", ...words]);
  expect(stdout).toBe(words.map((word) => `<${word}>`).join(""));
});

test("without -- the command of last time is used again, in its folder of last time, from anywhere", async () => {
  const inside = join(home.project, "inside");
  mkdirSync(inside);
  await home.perdure(["run", "coder", "--", "true"]);
  await home.perdure(["run", "api/coder", "--", "pwd"], { cwd: inside });

  const again = await home.perdure(["run", "coder"]);
  const elsewhere = await home.perdure(["run", "api/coder"], { cwd: "/" });

  expect(again).toMatchObject({ code: 0, stdout: `${realpathSync(inside)}\n` });
  expect(again.stderr).toMatch(/api\/coder again: pwd/);
  expect(elsewhere.stdout).toBe(`${realpathSync(inside)}\n`);
  expect((await home.json<WorkerDetail>(["show", "coder"])).generation).toBe(4);
});

test("a stored command whose folder or program is gone costs no generation, and says what is gone", async () => {
  const inside = join(home.project, "inside");
  mkdirSync(inside);
  await home.perdure(["run", "coder", "--", "true"]);
  await home.perdure(["run", "api/coder", "--", "true"], { cwd: inside });
  rmSync(inside, { recursive: true });
  expect(await home.perdure(["run", "coder"])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("no longer exists") as string,
  });

  const script = join(home.project, "script");
  writeFileSync(script, "#!/bin/sh\n", { mode: 0o700 });
  await home.perdure(["run", "other", "--", "./script"]);
  rmSync(script);
  expect(await home.perdure(["run", "other"])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("does not exist") as string,
  });

  for (const name of ["coder", "other"]) {
    const { runs } = await home.json<History>(["history", name]);
    expect(runs.map(({ reason }) => reason)).not.toContain("released");
    expect(await home.perdure(["run", name, "--", "true"])).toMatchObject({ code: 0 });
  }
});

test("a worker's environment tells it who it is", async () => {
  const env = await environmentOf(home, ["run", "coder", "--", "env"]);
  const { runs } = await home.json<History>(["history", "coder"]);
  expect(env).toMatchObject({
    PERDURE_PROJECT: "api",
    PERDURE_NAME: "coder",
    PERDURE_RUN: runs[0]?.id,
    PERDURE_GENERATION: "1",
    PERDURE_SOCKET: join(home.state, "perdure.sock"),
    AI_AGENT_ID: runs[0]?.id,
    OTEL_RESOURCE_ATTRIBUTES: `perdure.worker=api/coder,perdure.run=${runs[0]?.id}`,
    PI_INTERCOM_STABLE_ID: "api/coder",
    PI_INTERCOM_SESSION_NAME: "coder",
    HOME: home.dir,
  });
  expect(env).not.toHaveProperty("PI_INTERCOM_SCOPE_ID");
  expect(env.PERDURE_TOKEN).toMatch(/^[\w-]{40,}$/);
  expect(Object.keys(env).filter((name) => /^perdure_|SIGIGN/.test(name))).toEqual([]);
});

test("a nested run gets variables of its own; nothing of the outer one is left", async () => {
  const outer = await environmentOf(home, ["run", "outer", "--", "env"]);
  const inner = await environmentOf(home, ["run", "outer", "--", BIN, "run", "inner", "--", "env"]);
  const own = [
    "PERDURE_NAME",
    "PERDURE_RUN",
    "PERDURE_TOKEN",
    "AI_AGENT_ID",
    "OTEL_RESOURCE_ATTRIBUTES",
    "PI_INTERCOM_STABLE_ID",
    "PI_INTERCOM_SESSION_NAME",
  ];
  expect(inner).toMatchObject({ PERDURE_NAME: "inner", PI_INTERCOM_STABLE_ID: "api/inner", PERDURE_GENERATION: "1" });
  for (const name of own) expect(inner[name]).not.toBe(outer[name]);
  expect(Object.values(inner).filter((value) => value?.includes("outer"))).toEqual([]);
});

test.each([
  ["rename", "other", "x"],
  ["retire", "other"],
  ["takeover", "other"],
  ["project", "move", "api"],
  ["daemon", "stop"],
  ["backup", "x.db"],
])("a worker may not %s", async (...args) => {
  const { worker } = await home.start("other", ["sleep", "600"]);
  const { code, stderr } = await home.perdure(["run", "coder", "--", BIN, ...args]);
  expect({ code, stderr }).toMatchObject({
    code: 5,
    stderr: expect.stringContaining("api/coder is a worker") as string,
  });
  expect(await home.until("other", () => true)).toMatchObject({ run: worker.run, state: "running" });
});

async function environmentOf(where: Home, args: string[]): Promise<Record<string, string | undefined>> {
  const { stdout } = await where.perdure(args);
  return Object.fromEntries(
    stdout.split("\n").map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
}

test("a second run of a conversation in which nothing was said is not called both again and new", async () => {
  const { home: of } = installPersona("claude");
  const first = await of.perdure(["run", "solo", "--", "claude"]);
  expect(first.stderr).toMatch(/^perdure: api\/solo, new claude conversation/m);
  const second = await of.perdure(["run", "solo"]);
  expect(second.stderr).toMatch(/^perdure: api\/solo: claude, new claude conversation/m);
});
