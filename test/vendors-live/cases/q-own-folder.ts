import assert from "node:assert/strict";
import type { Case } from "../case.ts";
import { expectTold } from "../expect.ts";

export const ownFolder: Case = {
  letter: "q",
  title: "a new conversation in a folder of its own",
  modes: ["tui"],
  elsewhere: "only in a terminal is there somebody to type /new",
  core: false,
  async run(setup) {
    const { ownFolder: offer, shell } = setup.traits;
    if (!offer) throw new Error("nothing is offered");
    setup.home.git(["init"]);
    setup.home.git(["commit", "--allow-empty", "-m", "the first"]);
    const worker = setup.worker("w", { args: shell.args.tui });
    const first = await expectTold(setup, worker, await worker.say("one"), ["one"]);

    const renewed = worker.renew();
    const pane = setup.newestPane();
    await pane.shows(offer.question);
    await pane.keys(...offer.keys);
    await renewed;
    await worker.until("in another conversation", ({ session }) => session?.id !== first);
    const where = `where ${shell.call("pwd")}`;
    await expectTold(setup, worker, await worker.say(where), [where]);
    await worker.kill();

    const still = `still there ${shell.call("pwd")}`;
    await expectTold(setup, worker, await worker.say(still), [where, still]);
    const folders = [where, still].map((text) => {
      const answered = setup.turnRequests().find(({ turns, results }) => turns.at(-1) === text && results.length > 0);
      return /^\/.+$/m.exec(answered?.results.join("\n") ?? "")?.[0];
    });
    assert.notEqual(folders[0], setup.home.project);
    assert.equal(folders[1], folders[0], "resumed where the conversation is");
  },
};
