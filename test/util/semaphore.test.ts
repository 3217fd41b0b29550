import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { KeyedMutex, Semaphore } from "../../src/util/semaphore.ts";

test("a semaphore lets so many act at once, the others in order, whatever becomes of those before them", async () => {
  const semaphore = new Semaphore(2);
  const log: string[] = [];
  const act = async (name: string): Promise<void> => {
    log.push(`${name} begins`);
    await turn();
    log.push(`${name} ends`);
    if (name === "b") throw new Error("no");
  };
  const outcomes = await Promise.allSettled(["a", "b", "c", "d"].map((name) => semaphore.run(() => act(name))));
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
  expect(log.slice(0, 2)).toEqual(["a begins", "b begins"]);
  expect(log.filter((line) => line.endsWith("begins"))).toEqual(["a", "b", "c", "d"].map((name) => `${name} begins`));
  expect(log.indexOf("c begins")).toBeGreaterThan(log.indexOf("a ends"));
});

test("a mutex lets one act at a time for each key, and forgets a key that nobody uses", async () => {
  const mutex = new KeyedMutex();
  let inside = 0;
  let most = 0;
  const order: number[] = [];
  const act = (key: string, at: number): Promise<void> =>
    mutex.run(key, async () => {
      most = Math.max(most, ++inside);
      await turn();
      order.push(at);
      inside--;
      if (at === 1) throw new Error("no");
    });
  await Promise.allSettled([0, 1, 2, 3].map((at) => act("same", at)));
  expect({ most, order, busy: mutex.isBusy("same") }).toEqual({ most: 1, order: [0, 1, 2, 3], busy: false });
  const both = Promise.all([act("one", 4), act("other", 5)]);
  expect(mutex.isBusy("one")).toBe(true);
  await both;
  expect(most).toBe(2);
});
