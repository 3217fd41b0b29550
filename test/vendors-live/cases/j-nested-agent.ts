import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { headlessCommand } from "../harness/commands.ts";
import { binFolder } from "../harness/pins.ts";
import type { Case } from "../case.ts";
import { expectTold } from "../expect.ts";

/** Nobody tells that he looked and saw nothing new: as long as it takes to look twice. */
const LOOKED_MS = 2_500;

const HELD = "nested [[hold]]";

export const nestedAgent: Case = {
  letter: "j",
  title: "the same program inside the worker does not rebind it",
  modes: ["headless", "tui"],
  core: true,
  async run(setup) {
    const { shell } = setup.traits;
    const { name } = setup.vendor;
    const worker = setup.worker("w", { args: shell.args[setup.mode] });
    const session = await expectTold(setup, worker, await worker.say("one"), ["one"]);

    // In a file: what is to be held is the nested turn, not the one that asks for it.
    const script = join(setup.home.dir, "nested.sh");
    const [, ...words] = headlessCommand(setup.vendor, [], HELD);
    // With what the user has set: some programs keep their own key and endpoint from what their tools run.
    const variables = Object.entries(setup.home.env).map(([key, value]) => `export ${key}='${value}'\n`);
    const command = [join(binFolder(name), name), ...words].map((word) => `'${word}'`).join(" ");
    writeFileSync(script, `${variables.join("")}exec ${command}\n`);
    const outer = `start another ${shell.call(`sh ${script}`)}`;
    const saying = worker.say(outer);
    const own = await Promise.race([setup.model.until(({ turns }) => turns.at(-1) === HELD), failed(saying)]);
    assert.notEqual(setup.sessionOf(own), session, "a conversation of its own");
    await sleep(LOOKED_MS);
    assert.equal(await worker.session(), session, "while the other one is at work");
    setup.model.release();
    await saying;
    await worker.kill();

    const request = await worker.say("two");
    assert.equal(await expectTold(setup, worker, request, ["one", outer, "two"]), session);
    const { sessions, runs } = await worker.history();
    assert.deepEqual(
      sessions.map(({ id }) => id),
      [session],
    );
    for (const run of runs)
      assert.deepEqual(
        run.sessions.map(({ proved, id }) => [id, proved]),
        [[session, true]],
      );
  },
};

async function failed(saying: Promise<unknown>): Promise<never> {
  await saying;
  throw new Error("the turn was over before the other program asked anything");
}
