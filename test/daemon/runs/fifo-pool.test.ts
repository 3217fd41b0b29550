import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FifoPool } from "../../../src/daemon/runs/fifo-pool.ts";
import { processTable } from "../../../src/runtime/process/index.ts";
import { statePaths, type StatePaths } from "../../../src/state/paths.ts";

let base: string;
let paths: StatePaths;
let pool: FifoPool;
const HAS_NAMESPACES = processTable().namespace() !== "";

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "perdure-fifos-"));
  paths = statePaths({ PERDURE_HOME: base });
  mkdirSync(paths.runs, { recursive: true });
  pool = new FifoPool({ paths, processes: processTable(), log: () => undefined });
});
afterEach(() => rmSync(base, { recursive: true }));

async function hasFifo(run: string): Promise<boolean> {
  await pool.refill();
  pool.placeIn(join(paths.runs, run));
  return statSync(join(paths.runs, run, "alive"), { throwIfNoEntry: false })?.isFIFO() ?? false;
}

test("runs have fifos again after the folder of fifos was removed", async ({ skip }) => {
  skip(!HAS_NAMESPACES, "there are no pid namespaces here");
  expect(await hasFifo("one")).toBe(true);
  rmSync(paths.fifos, { recursive: true });
  expect(await hasFifo("two")).toBe(true);
});

test("a fifo that was removed is passed over", async ({ skip }) => {
  skip(!HAS_NAMESPACES, "there are no pid namespaces here");
  expect(await hasFifo("one")).toBe(true);
  const [, ...removed] = readdirSync(paths.fifos);
  for (const name of removed) rmSync(join(paths.fifos, name));
  expect(await hasFifo("two")).toBe(true);
  expect(await hasFifo("three")).toBe(true);
});
