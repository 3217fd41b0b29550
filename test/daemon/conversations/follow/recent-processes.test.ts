import { expect, test } from "vitest";
import { recentProcesses } from "../../../../src/daemon/conversations/follow/recent-processes.ts";
import type { ProcessTable } from "../../../../src/runtime/process/index.ts";

const LIFETIME_MS = 100;

test("an answer is kept for its time, and is there also when that ends while the answer is being made", async () => {
  let nowMs = 0;
  const asked: number[] = [];
  const table: Partial<ProcessTable> = {
    inspect: (pid) => {
      asked.push(pid);
      return null;
    },
    lockHolders: () => Promise.resolve([7]),
  };
  const recent = recentProcesses(table as ProcessTable, LIFETIME_MS, () => nowMs);
  const registry = (): readonly string[] | undefined =>
    recent.memo?.("registry", () => {
      nowMs += LIFETIME_MS;
      recent.inspect(1);
      return ["entry"];
    });
  expect(registry()).toEqual(["entry"]);
  expect(registry()).toEqual(["entry"]);
  recent.inspect(1);
  expect(asked).toEqual([1]);
  nowMs += LIFETIME_MS;
  recent.inspect(1);
  recent.forget();
  recent.inspect(1);
  expect(asked).toEqual([1, 1, 1]);
  expect(await recent.lockHolders("file")).toEqual([7]);
});
