import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { IdleMemory } from "../../../src/daemon/server/idle-memory.ts";
import {
  IDLE_CPU_SHARE,
  IDLE_HEAP_GROWTH_BYTES,
  IDLE_MEMORY_CHECK_MS,
  WORKED_COLLECTIONS,
  WORKED_CPU_MS,
  WORKED_HEAP_GROWTH_BYTES,
} from "../../../src/limits/index.ts";

const LIVE_BYTES = 10_000_000;
const IDLE_MS = IDLE_CPU_SHARE * IDLE_MEMORY_CHECK_MS;
const BUSY_MS = IDLE_MS + 1;

/** Makes a daemon after the collection that follows its start; `second` lets it work, and grow, and tells whether it has collected then. */
function startedDaemon(costMs = 0): { second: (cpuMs: number, grownBytes: number) => boolean } {
  let [cpuMs, heap, collections] = [0, LIVE_BYTES, 0];
  const collect = (): void => {
    heap = LIVE_BYTES;
    cpuMs += costMs;
    collections++;
  };
  const memory = new IdleMemory({ cpuMicros: () => cpuMs * 1000, heapBytes: () => heap, collect });
  memory.check();
  expect(collections).toBe(1);
  return {
    second: (usedMs, grownBytes) => {
      const before = collections;
      cpuMs += usedMs;
      heap += grownBytes;
      memory.check();
      return collections > before;
    },
  };
}

test("garbage is collected when the calls are over, and not while they go on", () => {
  const { second } = startedDaemon();
  expect(second(WORKED_CPU_MS, IDLE_HEAP_GROWTH_BYTES)).toBe(false);
  expect(second(BUSY_MS, IDLE_HEAP_GROWTH_BYTES)).toBe(false);
  expect(second(0, 0)).toBe(true);
  expect(second(0, 0)).toBe(false);
});

test("little garbage is collected after work, also if no second of it was busy", () => {
  const { second } = startedDaemon();
  for (let used = 0; used + IDLE_MS <= WORKED_CPU_MS; used += IDLE_MS)
    expect(second(IDLE_MS, used === 0 ? WORKED_HEAP_GROWTH_BYTES : 0)).toBe(false);
  expect(second(IDLE_MS, 0)).toBe(true);
  expect(second(0, WORKED_HEAP_GROWTH_BYTES)).toBe(false);
});

test("next to no garbage is never collected, and much always", () => {
  const { second } = startedDaemon();
  expect(second(WORKED_CPU_MS + 1, WORKED_HEAP_GROWTH_BYTES - 1)).toBe(false);
  expect(second(0, 0)).toBe(false);
  expect(second(0, 1)).toBe(true);
  expect(second(0, IDLE_HEAP_GROWTH_BYTES - 1)).toBe(false);
  expect(second(0, 1)).toBe(true);
});

test("collections take no more than a tenth of the work, however long one takes", () => {
  const costMs = WORKED_CPU_MS / 2;
  const { second } = startedDaemon(costMs);
  const seconds = Math.floor((WORKED_COLLECTIONS * costMs) / IDLE_MS);
  for (let n = 0; n < seconds - 1; n++) expect(second(IDLE_MS, n === 0 ? WORKED_HEAP_GROWTH_BYTES : 0)).toBe(false);
  expect(second(2 * IDLE_MS, 0)).toBe(false);
  expect(second(IDLE_MS, 0)).toBe(true);
});

test("the garbage of the start waits for a quiet second, because a call that comes at once would wait for the collection", () => {
  let [cpuMs, collections] = [0, 0];
  const memory = new IdleMemory({
    cpuMicros: () => cpuMs * 1000,
    heapBytes: () => LIVE_BYTES,
    collect: () => void collections++,
  });
  for (let n = 0; n < 3; n++) {
    cpuMs += BUSY_MS;
    memory.check();
    expect(collections).toBe(0);
  }
  memory.check();
  expect(collections).toBe(1);
});

test("the size of the heap is known while no file can be opened", () => {
  const script = `
    import { openSync } from "node:fs";
    globalThis.gc = () => undefined;
    const { IdleMemory } = await import(${JSON.stringify(join(import.meta.dirname, "../../../src/daemon/server/idle-memory.ts"))});
    const memory = new IdleMemory();
    try { for (;;) openSync("/dev/null"); } catch (error) { if (error.code !== "EMFILE") throw error; }
    memory.check(); // busy with its own start
    memory.check();
    process.stdout.write("checked");`;
  const node = ["exec", JSON.stringify(process.execPath), "--input-type=module", "-e", '"$0"'].join(" ");
  expect(execFileSync("sh", ["-c", `ulimit -n 64; ${node}`, script], { encoding: "utf8" })).toBe("checked");
});
