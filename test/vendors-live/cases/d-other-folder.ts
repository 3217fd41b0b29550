import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Case } from "../case.ts";
import { expectTold } from "../expect.ts";

export const otherFolder: Case = {
  letter: "d",
  title: "resumed from another folder, and after it moved",
  modes: ["headless", "tui"],
  core: true,
  async run(setup) {
    const { project, dir } = setup.home;
    const { shell } = setup.traits;
    // A git project: a worker is found from its subfolders too.
    setup.home.git(["init"]);
    const below = join(project, "below");
    mkdirSync(below);
    const worker = setup.worker("w", { args: shell.args[setup.mode] });
    const turns = [`one ${shell.call("pwd")}`];
    const session = await expectTold(setup, worker, await worker.say(turns[0] ?? ""), turns);
    await worker.kill();

    const say = async (text: string): Promise<void> => {
      turns.push(text);
      assert.equal(await expectTold(setup, worker, await worker.say(text), turns), session);
    };
    worker.from({ cwd: below });
    await say(`from below ${shell.call("pwd")}`);
    await say(`it moves ${shell.call("cd below && pwd")}`);
    if (shell.stays !== null) setup.notes.push(shell.stays);
    await worker.kill();

    worker.from({ cwd: dir, address: "api/w" });
    await say(`by its address ${shell.call("pwd")}`);

    const results = turns.map((text) =>
      setup.turnRequests().find((each) => each.turns.at(-1) === text && each.results.length),
    );
    const said = results.map((request) => request?.results.join("\n") ?? "no result");
    for (const [at, place] of [project, project, below, project].entries()) {
      assert.match(said[at] ?? "", new RegExp(`(?:^|\\s)${place}$`, "m"), `where ${turns[at]} ran`);
    }
    assert.deepEqual(
      (await worker.history()).sessions.map(({ launchCwd }) => launchCwd),
      [project],
    );
  },
};
