import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { DaemonStatus } from "../../../src/protocol/records/admin.ts";
import type { History } from "../../../src/protocol/records/run.ts";
import type { WorkerSummary } from "../../../src/protocol/records/worker.ts";
import { processTable } from "../../../src/runtime/process/index.ts";
import { finish, Home } from "../../support/home.ts";

const homes: Home[] = [];
function newHome(env: Record<string, string> = {}): Home {
  const home = new Home(env);
  homes.push(home);
  return home;
}
afterEach(async () => {
  for (const home of homes.splice(0)) await home.clear();
});

const gone = (pid: number | null): boolean => pid !== null && processTable().inspect(pid) === null;

function killDaemon(home: Home): void {
  const pid = home.daemonPid();
  if (pid !== null) process.kill(pid, "SIGKILL");
}

test("ten clients at once start exactly one daemon, and all are served", async () => {
  const home = newHome();
  const answers = await Promise.all(Array.from({ length: 10 }, () => home.perdure(["ls", "--json"])));
  for (const { code } of answers) expect(code).toBe(0);
  const daemons = (): number[] =>
    processTable()
      .withVariable("HOME", home.dir)
      .map(({ pid }) => pid);
  await expect.poll(daemons).toEqual([home.daemonPid()]);
});

test("a leftover socket, daemon.json and lock of a killed daemon are in nobody's way", async () => {
  const home = newHome();
  await home.perdure(["ls"]);
  const first = home.daemonPid();
  killDaemon(home);
  await expect.poll(() => gone(first)).toBe(true);
  expect(existsSync(join(home.state, "perdure.sock"))).toBe(true);

  expect(await home.perdure(["ls"])).toMatchObject({ code: 0 });
  expect(home.daemonPid()).not.toBe(first);
});

test("a foreign pid file at the lock's path is in nobody's way", async () => {
  const home = newHome();
  await home.perdure(["daemon", "start"]);
  await home.perdure(["daemon", "stop"]);
  writeFileSync(join(home.state, "daemon.lock"), `${process.pid}\n`, { mode: 0o600 });
  expect(await home.perdure(["ls"])).toMatchObject({ code: 0 });
});

test("SIGKILL of the daemon kills no worker and loses nothing; the next one adopts them", async () => {
  const home = newHome();
  const { worker } = await home.start("coder", ["sleep", "600"]);
  await home.perdure(["run", "other", "--", "true"]);
  const { runs: before } = await home.json<History>(["history", "coder"]);
  killDaemon(home);

  const adopted = await home.until("coder", () => true);
  const refused = await home.perdure(["run", "coder", "--", "true"]);

  expect(adopted).toMatchObject({ state: "running", generation: 1, run: worker.run });
  expect(refused.code).toBe(4);
  expect((await home.json<History>(["history", "coder"])).runs).toEqual(before);
  expect((await home.json<{ workers: WorkerSummary[] }>(["ls"])).workers.map(({ name }) => name)).toEqual([
    "coder",
    "other",
  ]);
});

test("a run that ended while no daemon was there is recorded by the next one, with its exit code", async () => {
  const home = newHome();
  const script = "while [ ! -e go ]; do sleep 0.02; done; exit 6";
  const { child } = await home.start("coder", ["sh", "-c", script]);
  const ending = finish(child);
  killDaemon(home);
  writeFileSync(join(home.project, "go"), "");
  expect((await ending).code).toBe(6);

  await expect.poll(() => home.json(["history", "coder"])).toMatchObject({ runs: [{ exit: 6, reason: "exited" }] });
});

test("a takeover that a killed daemon left half done is finished by the next one", async () => {
  const home = newHome();
  const { child } = await home.start("coder", ["sh", "-c", "trap '' TERM; echo up; while :; do sleep 0.2; done"]);
  if (child.stdout) await once(child.stdout, "data");
  const takeover = home.perdure(["takeover", "coder", "--kill-after", "60"]);
  await home.until("coder", ({ state }) => state === "displaced");
  killDaemon(home);
  expect((await takeover).code).toBe(7);

  await home.until("coder", ({ state }) => state === "stopped");
  await expect.poll(() => home.json(["history", "coder"])).toMatchObject({ runs: [{ reason: "displaced" }] });
}, 30_000);

test("stop is graceful: workers keep running, streams end, socket and daemon.json are gone", async () => {
  const home = newHome();
  const { worker } = await home.start("coder", ["sleep", "600"]);
  const stream = home.spawn(["events", "-f", "--json"]);
  if (stream.stdout) await once(stream.stdout, "data");
  const pid = home.daemonPid();
  const streamEnds = once(stream, "exit");

  expect(await home.json(["daemon", "stop"])).toMatchObject({ stopped: true, pid });

  expect(await streamEnds).toEqual([0, null]);
  expect(gone(pid)).toBe(true);
  const left = ["perdure.sock", "daemon.json", "perdure.db-wal"].filter((name) => existsSync(join(home.state, name)));
  expect(left).toEqual([]);
  expect(await home.until("coder", () => true)).toMatchObject({ run: worker.run });
  expect(await home.json<DaemonStatus>(["daemon", "status"])).toMatchObject({ store: { check: "not-needed" } });
});

test("after an unclean end the store is checked while serving", async () => {
  const home = newHome();
  await home.perdure(["run", "coder", "--", "true"]);
  killDaemon(home);
  await home.perdure(["ls"]);
  await expect
    .poll(() => home.json(["daemon", "status"]), { timeout: 10_000 })
    .toMatchObject({ store: { check: "ok" } });
});

test("the daemon leaves when nothing needs it, and stays while a worker lives", async () => {
  const idle = { PERDURE_IDLE_EXIT_MS: "300" };
  const busy = newHome(idle);
  const { worker } = await busy.start("coder", ["sleep", "600"]);
  const busyPid = busy.daemonPid();
  const quiet = newHome(idle);
  await quiet.perdure(["ls"]);
  const quietPid = quiet.daemonPid();

  await expect.poll(() => gone(quietPid), { timeout: 10_000 }).toBe(true);
  expect(gone(busyPid)).toBe(false);

  busy.killRun(worker.run?.id ?? "");
  await expect.poll(() => gone(busyPid), { timeout: 10_000 }).toBe(true);
  expect(await busy.json(["history", "coder"])).toMatchObject({ runs: [{ reason: "killed" }] });
});

test("from a state folder too deep for a socket everything works, and daemon.json says where it is", async () => {
  const home = newHome();
  const deep = join(home.dir, "d".repeat(60), "e".repeat(60));
  home.env.PERDURE_HOME = deep;
  try {
    const { stdout } = await home.perdure(["run", "coder", "--", "sh", "-c", 'echo "$PERDURE_SOCKET"']);
    const { socket } = JSON.parse(readFileSync(join(deep, "daemon.json"), "utf8")) as { socket: string };
    expect(stdout).toBe(`${socket}\n`);
    expect(Buffer.byteLength(socket)).toBeLessThanOrEqual(100);
    expect(statSync(socket).isSocket()).toBe(true);
    expect(await home.json(["ls"])).toMatchObject({ workers: [{ address: "api/coder" }] });
  } finally {
    expect(await home.json(["daemon", "stop"])).toMatchObject({ stopped: true });
  }
});
