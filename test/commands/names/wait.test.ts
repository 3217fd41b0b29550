import type { ChildProcess } from "node:child_process";
import { expect, test } from "vitest";
import type { WorkerSummary } from "../../../src/protocol/records/worker.ts";
import { fleetHome } from "../../support/fleet-home.ts";
import { finish, type Home } from "../../support/home.ts";

const FLEET = `[defaults]\nvendor = "scripted"\n[workers.coder]\n[workers.planner]\n`;

interface Waited {
  done: boolean;
  workers: WorkerSummary[];
}

/** Begins to wait, and returns the process and what it prints at its end. */
function waiting(home: Home, ...args: string[]): { child: ChildProcess; end: Promise<Waited & { code: number }> } {
  const child = home.spawn(["wait", ...args, "--json"]);
  const end = finish(child).then(({ code, stdout }) => ({ code, ...(JSON.parse(stdout) as Waited) }));
  return { child, end };
}

test("wait ends when one worker needs somebody, when all are idle, and when all have ended", async () => {
  const fleet = fleetHome(FLEET);
  await fleet.up();
  await fleet.untilIdle();
  const anyone = waiting(fleet);
  const planner = fleet.spawn(["wait", "planner"]);
  await fleet.type("coder", "/permission");
  expect(await anyone.end).toMatchObject({ code: 0, done: true, workers: [{ name: "coder", state: "blocked" }] });
  expect(planner.exitCode).toBe(null);

  await fleet.type("coder", "y");
  await fleet.until("coder", ({ state }) => state === "idle");
  await fleet.type("coder", "/sleep 3000");
  await fleet.until("coder", ({ state }) => state === "busy");
  const idle = waiting(fleet, "--idle");
  // It goes on waiting after the daemon was killed.
  process.kill(fleet.daemonPid() ?? 0, "SIGKILL");
  await fleet.until("coder", ({ state }) => state === "busy");
  expect(idle.child.exitCode).toBe(null);
  const names = (await idle.end).workers.map(({ name, state }) => `${name} ${state}`);
  expect(names).toEqual(["coder idle", "planner idle"]);

  const ended = waiting(fleet, "coder", "planner", "--ended");
  await fleet.down("coder");
  expect(ended.child.exitCode).toBe(null);
  await fleet.down("planner");
  expect(await ended.end).toMatchObject({ code: 0, done: true });
  planner.kill("SIGTERM");
  expect((await fleet.perdure(["wait", "--ended"])).code).toBe(0);
});

test("what cannot come true, or not in time, is said", async () => {
  const fleet = fleetHome(FLEET);
  await fleet.up();
  await fleet.untilIdle();
  expect(await fleet.perdure(["wait", "coder", "--ended", "--timeout", "100ms"])).toMatchObject({
    code: 6,
    stdout: "api/coder idle\n",
    stderr: expect.stringContaining("Not all of them ended within 100ms.") as string,
  });
  const inSeconds = await fleet.perdure(["wait", "--timeout", "1"]);
  expect(inSeconds).toMatchObject({ code: 6, stderr: "Nobody needed you within 1s.\n" });
  const idle = fleet.perdure(["wait", "coder", "--idle"]);
  expect((await idle).code).toBe(0);
  await fleet.type("planner", "/sleep 60000");
  await fleet.until("planner", ({ state }) => state === "busy");
  // A busy one would be waited for; nobody but a person can make an end of a question.
  const asked = fleet.perdure(["wait", "--idle"]);
  await fleet.type("coder", "/permission");
  expect(await asked).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(
      /api\/coder is blocked: asks for permission, so it will not become idle.[^]*perdure attach api\/coder, then wait again/,
    ) as string,
  });
  await fleet.down("coder");
  expect(await fleet.perdure(["wait", "coder", "--idle"])).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(
      /api\/coder is stopped, so it will not become idle.[^]*perdure up api\/coder/,
    ) as string,
  });
  expect(await fleet.perdure(["wait", "nobody"])).toMatchObject({ code: 3 });
  expect(await fleet.perdure(["wait", "--idle", "--ended"])).toMatchObject({ code: 2 });
});

test("nobody waits for a worker that was crash-looping before, unless it is named", async () => {
  const looper = `[workers.looper]\ncommand = ["sh", "-c", "exit 1"]\n`;
  const fleet = fleetHome(`[workers.coder]\nvendor = "scripted"\n${looper}`, { PERDURE_RESTART_WAIT_MS: "1" });
  await fleet.up();
  await fleet.until("looper", ({ state }) => state === "crash-looping");
  await fleet.until("coder", ({ state }) => state === "idle");
  const all = await fleet.perdure(["wait", "--idle", "--timeout", "20s"]);
  expect(all).toMatchObject({ code: 0, stdout: "api/coder idle\n" });
  expect((await fleet.perdure(["wait", "looper", "--idle"])).code).toBe(4);
});

test("a worker that sleeps until asked has nothing to do", async () => {
  const fleet = fleetHome(`[workers.sleeper]\nvendor = "scripted"\nmode = "turn"\n`);
  await fleet.up();
  expect(await fleet.perdure(["wait", "--idle", "--timeout", "20s"])).toMatchObject({
    code: 0,
    stdout: "api/sleeper asleep\n",
  });
});
