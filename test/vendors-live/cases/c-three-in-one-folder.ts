import assert from "node:assert/strict";
import type { Case } from "../case.ts";
import { expectTold } from "../expect.ts";
import type { Worker } from "../worker.ts";

export const threeInOneFolder: Case = {
  letter: "c",
  title: "three in one folder, resumed in another order",
  modes: ["headless", "tui"],
  core: true,
  async run(setup) {
    const first = setup.worker("red");
    const others = [setup.worker("green"), setup.worker("blue")];
    const workers = [first, ...others];
    const begin = async (worker: Worker): Promise<string> => {
      const text = `${worker.name} one`;
      return expectTold(setup, worker, await worker.say(text), [text]);
    };
    // The very first start alone: some programs set up their home then, and do not expect company.
    const begun = [await begin(first), ...(await Promise.all(others.map(begin)))];
    assert.equal(new Set(begun).size, workers.length, "a conversation each");
    await Promise.all(workers.map((worker) => worker.kill()));

    // In another order, and without waiting for each other, as after a reboot.
    const resume = async (worker: Worker): Promise<string> => {
      const turns = [`${worker.name} one`, `${worker.name} two`];
      return expectTold(setup, worker, await worker.say(turns[1] ?? ""), turns);
    };
    const resumed = await Promise.all(workers.toReversed().map(resume));
    assert.deepEqual(resumed.toReversed(), begun, "everybody is where they were");
  },
};
