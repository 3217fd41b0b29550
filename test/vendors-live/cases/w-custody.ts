import assert from "node:assert/strict";
import type { Case } from "../case.ts";
import { until } from "../../terminal/tmux.ts";
import { loss } from "../damage.ts";
import { expectTold } from "../expect.ts";

export const custody: Case = {
  letter: "w",
  title: "what the vendor lost comes back: same conversation, same turns",
  modes: ["headless", "tui"],
  core: true,
  async run(setup) {
    const worker = setup.worker("w");
    await worker.say("one");
    const session = await expectTold(setup, worker, await worker.say("two"), ["one", "two"]);
    await worker.kill();
    const before = await setup.transcriptOf(session);
    await until("its copy", async () => ((await worker.detail()).conversation?.custody?.bytes ?? 0) > 0 || null);

    await loss(setup, session).does();
    assert.deepEqual(await setup.conversations().then((all) => all.filter((each) => each.includes(session))), []);
    assert.equal(await expectTold(setup, worker, await worker.say("three"), ["one", "two", "three"]), session);
    const { sessions } = await worker.history();
    assert.deepEqual(
      sessions.map(({ id }) => id),
      [session],
    );
    assert.ok(before.length > 0 && (sessions[0]?.custody?.bytes ?? 0) > 0, "a copy is kept");
    const restored = (await setup.perdure(["events", "--json", "--limit", "1000"])).stdout;
    assert.match(restored, /"session\.restored"/);
  },
};
