import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { RunWatch } from "../../../src/daemon/runs/watch.ts";
import { processTable, type ProcessTable } from "../../../src/runtime/process/index.ts";
import { statePaths } from "../../../src/state/paths.ts";
import type { Run } from "../../../src/store/runs.ts";

const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
});

const paths = statePaths({ PERDURE_HOME: "/nowhere/perdure-end-scan" });

/** A process that carries the run, as the wrapper and what its program left behind do. */
async function carrierOf(run: string): Promise<number> {
  const env = { PATH: process.env.PATH, PERDURE_RUN: run, PERDURE_SOCKET: paths.socket };
  const child = spawn("sleep", ["600"], { env, stdio: "ignore" });
  children.push(child);
  await once(child, "spawn");
  return child.pid ?? 0;
}

test("the processes of headless runs that end together are found by one scan", async () => {
  const table = processTable();
  let scans = 0;
  const processes: ProcessTable = {
    ...table,
    withVariable(name, value) {
      scans++;
      return table.withVariable(name, value);
    },
  };
  const watch = new RunWatch({ processes, paths } as never);
  const runOf = (n: number): Run => ({ id: `h.api.w.${n}`, bootId: table.bootId(), namespace: null }) as Run;
  const pids = [await carrierOf("h.api.w.1"), await carrierOf("h.api.w.2")];
  const found = [1, 2, 3].map((n) => watch.processesAtEnd(runOf(n)).map(({ pid }) => pid));
  expect(found).toEqual([[pids[0]], [pids[1]], []]);
  expect(scans).toBe(1);

  // A later end is judged by what is there then.
  await nextTurn();
  const later = await carrierOf("h.api.w.3");
  expect(watch.processesAtEnd(runOf(3)).map(({ pid }) => pid)).toEqual([later]);
  expect(scans).toBe(2);
});

test("a run whose end takes longer than to the next poll is ended once", async () => {
  const home = mkdtempSync(join(tmpdir(), "perdure-end-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const now = (): number => 0;
  const services = { processes: processTable(), paths: statePaths({ PERDURE_HOME: home }), now, monotonicMs: now };
  const watch = new RunWatch({ ...services, log: () => undefined } as never);
  onTestFinished(() => watch.stop());
  let gone = 0;
  const listener = { claimed: () => undefined, gone: () => new Promise<never>(() => gone++) };
  watch.subscribe(listener as never);
  watch.claimed({ id: "h.api.w.1", kind: "run", bootId: "an earlier one", namespace: null, startedMs: 0 } as Run, null);
  for (let poll = 0; poll < 3; poll++) {
    void watch.pollNow();
    await nextTurn();
  }
  expect(gone).toBe(1);
});
