import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { DownItem, UpItem } from "../../../src/protocol/records/fleet.ts";
import type { History, TakeoverResult } from "../../../src/protocol/records/run.ts";
import type { WorkerSummary } from "../../../src/protocol/records/worker.ts";
import { processTable } from "../../../src/runtime/process/index.ts";
import { isErrno } from "../../../src/state/files.ts";
import { eventually } from "../../support/check.ts";
import { Container, whyNoContainers } from "../../support/container.ts";
import { byName, FleetHome } from "../../support/fleet-home.ts";

const missing = whyNoContainers();
if (missing !== null) process.stderr.write(`the tests of pid namespaces are skipped: ${missing}\n`);

const FLEET = `[workers.coder]
command = ["sh", "-c", "exec sleep 1000"]
count = 2
[workers.keeper]
command = ["sh", "-c", "exec sleep 1000"]
`;
const NAMES = ["coder-1", "coder-2", "keeper"];

describe.skipIf(missing !== null)("one state folder in two containers", { timeout: 60_000 }, () => {
  let home: FleetHome;
  let a: Container;
  let b: Container;
  beforeEach(async () => {
    home = new FleetHome(FLEET);
    [a, b] = [new Container(home, "dev-a"), new Container(home, "dev-b")];
    await Promise.all([a.start(), b.start()]);
  });
  afterEach(async () => {
    await Promise.all([a.kill(), b.kill()]);
    await home.clear();
  });

  async function worker(where: Container, name: string): Promise<WorkerSummary | undefined> {
    return byName((await where.json<{ workers: WorkerSummary[] }>(["ls"])).workers)[name];
  }

  /** Makes the other container's daemon the one that serves. */
  async function moveDaemonTo(where: Container): Promise<void> {
    expect(await where.perdure(["daemon", "stop"])).toMatchObject({ code: 0 });
    expect(await where.perdure(["daemon", "start"])).toMatchObject({ code: 0 });
  }

  test("B3: a worker that lives in another pid namespace keeps its name, and the refusal says where it is", async () => {
    await a.startWorker("coder");
    const before = await worker(a, "coder");
    await moveDaemonTo(b);

    expect(await worker(b, "coder")).toMatchObject({ state: "running", run: before?.run, generation: 1 });
    expect((await worker(b, "coder"))?.attention).toMatch(/^in another pid namespace, pid:\[\d+\] of dev-a;/);
    const refused = await b.perdure(["run", "coder", "--", "true"]);
    expect(refused).toMatchObject({ code: 4 });
    expect(refused.stderr).toMatch(/pid \d+ in another pid namespace, pid:\[\d+\] of dev-a, since/);
    expect(refused.stderr).toContain("perdure takeover api/coder");
    expect((await b.perdure(["retire", "coder"])).stderr).toContain("of dev-a");
    expect(home.processesOf(before?.run?.id ?? "").length).toBeGreaterThan(0);
  });

  test("B3: the end of a worker in another pid namespace is seen, with its exit code", async () => {
    const child = await a.startWorker("coder");
    await moveDaemonTo(b);
    expect(await worker(b, "coder")).toMatchObject({ state: "running" });
    for (const { pid } of home.processesOf((await worker(b, "coder"))?.run?.id ?? "")) terminate(pid);
    await eventually("the worker to be stopped", async () => (await worker(b, "coder"))?.state === "stopped");
    expect((await b.json<History>(["history", "coder"])).runs[0]).toMatchObject({ exit: 143, reason: "SIGTERM" });
    await eventually("its wrapper to be gone", () => (child.exitCode ?? child.signalCode) !== null);
    expect(await b.perdure(["run", "coder", "--", "true"])).toMatchObject({ code: 0 });
  });

  test("B3: takeover frees the name of a run that cannot be signalled, and stop only fences it; both say so", async () => {
    await a.startWorker("coder");
    const run = (await worker(a, "coder"))?.run?.id ?? "";
    await moveDaemonTo(b);
    const [stopped] = (await b.json<{ workers: DownItem[] }>(["stop", "coder"])).workers;
    expect(stopped).toMatchObject({ outcome: "failed", run });
    expect(stopped?.reason).toMatch(/is fenced, but it is in another pid namespace, pid:\[\d+\] of dev-a/);
    expect(await b.perdure(["run", "coder", "--", "true"])).toMatchObject({ code: 4 });

    const taken = await b.json<TakeoverResult>(["takeover", "coder"]);
    expect(taken).toMatchObject({ displaced: run, killed: false });
    expect(taken.leftIn).toContain("of dev-a");
    expect(home.processesOf(run).length).toBeGreaterThan(0);
    expect(await b.perdure(["run", "coder", "--", "true"])).toMatchObject({ code: 0 });
  });

  test("B3: a claim from a namespace that the daemon cannot see is refused with a sentence, and the rest works", async () => {
    await a.startWorker("coder");
    const refused = await b.perdure(["run", "other", "--", "true"]);
    expect(refused).toMatchObject({ code: 5 });
    expect(refused.stderr).toMatch(/the daemon runs in another pid namespace \(pid:\[\d+\] of dev-a\)/);
    expect(await worker(b, "other")).toBeUndefined();
    expect(await b.perdure(["send", "coder", "hi"])).toMatchObject({ code: 0 });
    expect((await b.perdure(["daemon", "status"])).stdout).toContain("of dev-a");
    expect((await b.perdure(["doctor"])).stdout).toMatch(/namespace +the daemon runs in another pid namespace/);
    // The daemon's pid is another process here: its end is seen on the socket.
    expect(await b.perdure(["daemon", "stop"])).toMatchObject({ code: 0 });
    expect((await a.perdure(["daemon", "status"])).stdout).toContain("not running");
  });

  test("B3: a library's lease is held as long as its process lives, wherever the daemon is", async () => {
    const program = `import { connect } from ${JSON.stringify(join(import.meta.dirname, "../../../dist/index.js"))};
      const lease = await (await connect()).claim("guest"); console.log(lease.run);`;
    const child = a.spawn([process.execPath, "--input-type=module", "-e", program]);
    const run = await new Promise<string>((resolve) =>
      child.stdout?.once("data", (text) => resolve(String(text).trim())),
    );
    // Stopped, so that it cannot reconnect: only its fifo tells that it lives.
    const client = processTable()
      .commandLines()
      .find(({ argv }) => argv[0] === process.execPath && argv.at(-1) === program);
    process.kill(client?.pid ?? 0, "SIGSTOP");
    await moveDaemonTo(b);
    expect(await worker(b, "guest")).toMatchObject({ mode: "client", run: { id: run } });
    expect(await b.perdure(["run", "guest", "--", "true"])).toMatchObject({ code: 4 });
    process.kill(client?.pid ?? 0, "SIGKILL");
    await eventually("the lease to be free", async () => (await worker(b, "guest"))?.state === "stopped");
    expect((await b.json<History>(["history", "guest"])).runs[0]).toMatchObject({ reason: "gone" });
  });

  test("B3: a container that is started again brings everything back with up", async () => {
    await a.json(["up", "--yes"]);
    await a.startWorker("loner");
    await a.kill();
    await a.start();
    const { workers } = await a.json<{ workers: WorkerSummary[] }>(["ls"]);
    expect(workers.map(({ name, state }) => ({ name, state }))).toEqual(
      [...NAMES, "loner"].map((name) => ({ name, state: "stopped" })),
    );
    const up = await a.json<{ workers: UpItem[] }>(["up", "--yes"]);
    expect(up.workers).toMatchObject(NAMES.map((name) => ({ name, outcome: "started" })));
    for (const name of NAMES) {
      const { runs } = await a.json<History>(["history", name]);
      expect(runs).toMatchObject([{ endedAt: null }, { reason: "killed" }]);
    }
    expect(await a.perdure(["run", "loner", "--", "true"])).toMatchObject({ code: 0 });
  });

  test("B3: a fleet in the other container is neither started twice, nor in its tmux server from here", async () => {
    await a.json(["up", "--yes"]);
    await moveDaemonTo(b);
    const up = await b.json<{ workers: UpItem[] }>(["up", "--yes"]);
    for (const item of up.workers) {
      expect(item).toMatchObject({ outcome: "refused" });
      expect(item.reason).toMatch(/in another pid namespace, pid:\[\d+\] of dev-a/);
    }
    expect((await b.perdure(["restart", "keeper"])).stderr).toContain("of dev-a");
    expect(await worker(b, "keeper")).toMatchObject({ state: "running", generation: 1 });

    home.write(`${FLEET}[workers.late]\ncommand = ["sleep", "1000"]\n`);
    const [late] = (await b.json<{ workers: UpItem[] }>(["up", "--yes", "late"])).workers;
    expect(late).toMatchObject({ outcome: "refused" });
    expect(late?.reason).toMatch(/tmux server was started in another pid namespace \(pid:\[\d+\] of dev-a\)/);

    const down = await b.json<{ workers: DownItem[] }>(["down"]);
    expect(down.workers.filter(({ outcome }) => outcome === "failed")).toHaveLength(NAMES.length);
    for (const name of NAMES) expect(home.processesOf((await worker(b, name))?.run?.id ?? "")).not.toEqual([]);
    await a.kill();
    await eventually("the fleet to be stopped", async () => {
      const { workers } = await b.json<{ workers: WorkerSummary[] }>(["ls"]);
      return NAMES.every((name) => byName(workers)[name]?.run === null);
    });
    const again = await b.json<{ workers: UpItem[] }>(["up", "--yes", ...NAMES]);
    expect(again.workers).toMatchObject(NAMES.map((name) => ({ name, outcome: "started" })));
  });

  test("B3: with the store gone, no daemon begins anew while a worker runs in another pid namespace", async () => {
    await a.startWorker("coder");
    const run = (await worker(a, "coder"))?.run?.id ?? "";
    expect(await a.perdure(["daemon", "stop"])).toMatchObject({ code: 0 });
    for (const name of readdirSync(home.state))
      if (name !== "runs") rmSync(join(home.state, name), { recursive: true, force: true });
    const refused = await b.perdure(["run", "coder", "--", "true"]);
    expect(refused).toMatchObject({ code: 7 });
    expect(refused.stderr).toContain(run);
    expect(refused.stderr).toContain("in the container that they run in");
    expect(home.processesOf(run)).not.toEqual([]);
  });

  test("B3: a run of an older perdure, whose namespace nobody knows, is held until somebody takes over", async () => {
    await a.startWorker("coder");
    const run = (await worker(a, "coder"))?.run?.id ?? "";
    await a.perdure(["daemon", "stop"]);
    const store = new DatabaseSync(join(home.state, "perdure.db"));
    store.exec("UPDATE runs SET pid_namespace = NULL, host = NULL");
    store.close();
    // Where its processes are seen, it is a run like any other.
    expect(await worker(a, "coder")).toMatchObject({ state: "running", attention: null });
    await moveDaemonTo(b);
    expect((await b.perdure(["run", "coder", "--", "true"])).stderr).toContain("did not record");
    await moveDaemonTo(a);
    expect(await worker(a, "coder")).toMatchObject({ state: "running", attention: null, run: { id: run } });
    home.killRun(run);
    await eventually("the worker to be stopped", async () => (await worker(a, "coder"))?.state === "stopped");
  });
});

/** Ends a process; the end of another one may have ended it already. */
function terminate(pid: number): void {
  try {
    process.kill(pid, "SIGTERM");
  } catch (error) {
    if (!isErrno(error, "ESRCH")) throw error;
  }
}
