// The wrapper's end is not the program's end, and the daemon's end is nobody's.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { TakeoverResult } from "../../src/protocol/records/run.ts";
import type { WorkerSummary } from "../../src/protocol/records/worker.ts";
import { processTable } from "../../src/runtime/process/index.ts";
import { BIN, finish, Home } from "../support/home.ts";
import { Shell } from "./shell.ts";
import { withTmux } from "./hooks.ts";
import { type Tmux, until } from "./tmux.ts";
import { Worker } from "./worker.ts";

const home = new Home();
let tmux: Tmux;

withTmux(home, (started) => (tmux = started));

async function look(name: string): Promise<WorkerSummary | null> {
  const { workers } = await home.json<{ workers: WorkerSummary[] }>(["ls"]);
  return workers.find((each) => each.name === name) ?? null;
}

async function isHeldBy(worker: Worker, pids: number[], command: string): Promise<void> {
  const summary = await until(`${worker.name} held`, async () => {
    const found = await look(worker.name);
    return found?.attention?.startsWith("wrapper gone") ? found : null;
  });
  expect(summary.attention).toContain(`${command} still runs`);
  const { code, stderr } = await home.perdure(["run", worker.name, "--", "true"]);
  expect(code).toBe(4);
  // One of them is named; which one is the kernel's order.
  expect(pids.some((pid) => stderr.includes(`pid ${pid} `))).toBe(true);
  expect(stderr).toContain(command);
}

test("a program that ignores the hang-up keeps its name after kill-pane", async () => {
  const worker = new Worker(home, "deaf");
  const pane = await tmux.pane([BIN, "run", worker.name, "--", "sh", "-c", "trap '' HUP; exec sleep 1000"]);
  const sleep = await worker.program(/^sleep$/);
  const wrapper = await worker.wrapper();
  await pane.kill();
  // The wrapper waits for its program as long as that lives.
  expect((await look(worker.name))?.run?.pid).toBe(wrapper.pid);
  expect((await home.perdure(["run", worker.name, "--", "true"])).code).toBe(4);
  process.kill(wrapper.pid, "SIGKILL");
  await worker.gone(wrapper);
  await isHeldBy(worker, [sleep.pid], "sleep");
  process.kill(sleep.pid, "SIGKILL");
  await worker.gone(sleep);
  expect(await home.perdure(["run", worker.name, "--", "true"])).toMatchObject({ code: 0 });
});

test("a grandchild in a session of its own keeps the name; when the last is gone it is free at once", async () => {
  const worker = new Worker(home, "fork");
  const forking = ["sh", "-c", "setsid sleep 1001 & setsid sleep 1002 & exit 9"];
  const child = home.spawn(["run", worker.name, "--", ...forking], { stdio: "ignore" });
  expect((await finish(child)).code).toBe(9);
  const [first, second] = await until("two sleeps", () => {
    const sleeps = worker.processes().filter(({ command }) => command === "sleep");
    return sleeps.length === 2 ? sleeps : null;
  });
  if (!first || !second) throw new Error("two were counted");
  await isHeldBy(worker, [first.pid, second.pid], "sleep");
  process.kill(first.pid, "SIGKILL");
  await worker.gone(first);
  await isHeldBy(worker, [second.pid], "sleep");
  process.kill(second.pid, "SIGKILL");
  await worker.gone(second);
  expect(await home.perdure(["run", worker.name, "--", "true"])).toMatchObject({ code: 0 });
});

test("a wrapper killed under a shell leaves the program, which keeps the name until a takeover stops it", async () => {
  const shell = await Shell.start(tmux, home);
  const settings = shell.settings();
  const worker = new Worker(home, "orphan");
  await shell.pane.line(`$P run ${worker.name} -- sleep 1000`);
  const sleep = await worker.program(/^sleep$/);
  process.kill((await worker.wrapper()).pid, "SIGKILL");
  expect(await shell.status()).toBe(137);
  expect(shell.settings()).toBe(settings);
  await shell.echoes();
  await isHeldBy(worker, [sleep.pid], "sleep");
  expect(await home.json<TakeoverResult>(["takeover", worker.name])).toMatchObject({ killed: false });
  expect(processTable().inspect(sleep.pid)).toBeNull();
  expect(await worker.ended()).toMatchObject({ exit: null, reason: "displaced" });
  expect(await home.perdure(["run", worker.name, "--", "true"])).toMatchObject({ code: 0 });
});

test("a takeover stops a suspended job as well, and its terminal is told by whom", async () => {
  const shell = await Shell.start(tmux, home);
  const worker = new Worker(home, "stopped");
  await shell.pane.line(`$P run ${worker.name} -- sleep 1000`);
  const sleep = await worker.program(/^sleep$/);
  await shell.pane.keys("C-z");
  expect(await shell.status()).toBe(148);
  await worker.is("suspended", sleep);
  expect(await home.json<TakeoverResult>(["takeover", worker.name])).toMatchObject({ killed: false });
  await shell.pane.shows(/this run .* was displaced by operator/);
  expect(await worker.ended()).toMatchObject({ exit: 143, reason: "displaced" });
});

test("the exit code is known even when no daemon was there at the end", async () => {
  const worker = new Worker(home, "alone");
  const go = join(home.dir, "go");
  const wait = `while [ ! -e '${go}' ]; do sleep 0.02; done; exit 7`;
  const { child } = await home.start(worker.name, ["sh", "-c", wait]);
  const ended = finish(child);
  const daemon = processTable().inspect(home.daemonPid() ?? 0);
  if (!daemon) throw new Error("no daemon runs");
  process.kill(daemon.pid, "SIGKILL");
  await worker.gone(daemon);
  writeFileSync(go, "");
  expect((await ended).code).toBe(7);
  expect(await worker.ended()).toMatchObject({ exit: 7, reason: "exited" });
});
