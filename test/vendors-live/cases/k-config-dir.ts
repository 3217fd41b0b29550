import assert from "node:assert/strict";
import { realpathSync } from "node:fs";
import type { Case } from "../case.ts";
import { expectTold } from "../expect.ts";

export const configDir: Case = {
  letter: "k",
  title: "the vendor's config dir belongs to the worker",
  modes: ["headless", "tui"],
  core: true,
  async run(setup) {
    const a = setup.configDir("a");
    const b = setup.configDir("b");
    const inA = setup.worker("in-a", { env: a.env });
    const inB = setup.worker("in-b", { env: b.env });
    const sessionA = await expectTold(setup, inA, await inA.say("a one"), ["a one"]);
    const sessionB = await expectTold(setup, inB, await inB.say("b one"), ["b one"]);
    await inA.kill();
    await inB.kill();

    inA.from({});
    assert.equal(await expectTold(setup, inA, await inA.say("a two"), ["a one", "a two"]), sessionA, "unset");
    await inA.kill();
    inA.from({ env: b.env });
    assert.equal(await expectTold(setup, inA, await inA.say("a three"), ["a one", "a two", "a three"]), sessionA, "B");
    inB.from({ env: a.env });
    assert.equal(await expectTold(setup, inB, await inB.say("b two"), ["b one", "b two"]), sessionB, "the other way");

    for (const [worker, { dir }] of [
      [inA, a],
      [inB, b],
    ] as const) {
      const { sessions } = await worker.history();
      assert.deepEqual(
        sessions.map((each) => each.configDir),
        [realpathSync(dir)],
      );
      assert.ok((await worker.transcript()).startsWith(dir), "the conversation is in the worker's own config dir");
    }
    const elsewhere = setup.transcripts().filter((file) => ![a, b].some(({ dir }) => file.startsWith(dir)));
    assert.deepEqual(elsewhere, [], "and nowhere else");
  },
};
