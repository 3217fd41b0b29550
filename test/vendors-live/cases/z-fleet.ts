import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { UpItem, UpResult } from "../../../src/protocol/records/fleet.ts";
import { until } from "../../terminal/tmux.ts";
import type { Case } from "../case.ts";
import { expectTold } from "../expect.ts";
import { writeFleet } from "../fleet-file.ts";
import { killEverything, PaneWorker } from "../pane-worker.ts";
import type { LiveSetup } from "../setup.ts";

const NAMES = ["one", "two"];
const hello = (name: string): string => `hello from ${name}`;

export const fleet: Case = {
  letter: "z",
  title: "a fleet of it: everything killed, rebooted, up: all of it is back",
  modes: ["tui"],
  elsewhere: "a fleet lives in terminals",
  core: true,
  async run(setup) {
    const boot = join(setup.home.dir, "boot-id");
    writeFileSync(boot, "11111111-1111-1111-1111-111111111111");
    setup.home.env.PERDURE_BOOT_ID_FILE = boot;
    await setup.home.perdure(["daemon", "stop"]);
    writeFileSync(join(setup.home.project, "hello.md"), hello("{{name}}"));
    writeFleet(setup, setup.home.project, NAMES, "hello.md");

    // One of them was opened by hand and ended before anything was said: it has yet to say what it is told to say first.
    const early = setup.worker("one");
    await early.open();
    await early.session();
    await early.kill();

    const first = await up(setup);
    assert.deepEqual([first.started, first.refused], [2, 0], JSON.stringify(first.workers));
    const workers = NAMES.map((name) => new PaneWorker(setup, name, {}));
    const sessions = await Promise.all(workers.map((worker) => begun(setup, worker)));
    for (const worker of workers)
      await expectTold(setup, worker, await worker.say("more"), [hello(worker.name), "more"]);
    assert.deepEqual([(await up(setup)).started, (await up(setup)).running], [0, 2], "up again changes nothing");

    // What a power cut does: all of it is gone at once, and the next boot is another one.
    await killEverything(setup, workers);
    writeFileSync(boot, "22222222-2222-2222-2222-222222222222");

    const second = await up(setup);
    assert.deepEqual([second.started, second.refused], [2, 0], JSON.stringify(second.workers));
    for (const [at, worker] of workers.entries()) {
      const told = [hello(worker.name), "more", "again"];
      assert.equal(await expectTold(setup, worker, await worker.say("again"), told), sessions[at]);
      assert.equal((await worker.detail()).generation, worker.name === "one" ? 3 : 2);
    }
    await setup.home.perdure(["down"]);
  },
};

function up(setup: LiveSetup): Promise<UpResult & { workers: UpItem[] }> {
  return setup.home.json(["up", "--yes"]);
}

/** Checks that the worker's first turn was the prompt, once, and is on disk. */
async function begun(setup: LiveSetup, worker: PaneWorker): Promise<string> {
  const text = hello(worker.name);
  const request = await until(
    `${text} to be asked`,
    () => setup.turnRequests().find(({ turns }) => turns[0] === text) ?? null,
  );
  assert.deepEqual([...request.turns], [text]);
  const session = await worker.session();
  await until(`${text} on disk`, () => (setup.hasWritten(session, "turns=1 first=hello") ? true : null));
  return session;
}
