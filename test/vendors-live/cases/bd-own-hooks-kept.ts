import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { until } from "../../terminal/tmux.ts";
import type { Case } from "../case.ts";
import { sendMail, timesTold, untilMail } from "../mail.ts";

export const ownHooksKept: Case = {
  letter: "bd",
  title: "the user's own hooks run beside ours, and their settings stay as they were",
  modes: ["headless", "tui"],
  core: true,
  async run(setup) {
    const { settings, marks, args = [] } = setup.traits.ownHooks(setup.home.dir, setup.home.project);
    const before = settings.map((file) => readFileSync(file));
    const ran = async (): Promise<void> => {
      await until(
        "the user's own hooks",
        () => (marks.every((mark) => existsSync(mark)) ? true : null),
        () => {
          return Promise.resolve(marks.filter((mark) => !existsSync(mark)).join(" "));
        },
      );
      for (const mark of marks) rmSync(mark);
    };
    const worker = setup.worker("w", { args });
    await worker.say("one");
    await ran();
    if (setup.mode === "tui") await worker.kill();
    const id = await sendMail(setup, worker.name, "the build is red");
    await worker.say("two");
    // In a terminal the mail may wake the program just when somebody types: then it is told behind that.
    const told = await setup.model.until((request) => !request.auxiliary && timesTold(request, "the build is red") > 0);
    assert.equal(timesTold(told, "the build is red"), 1, "ours run");
    await untilMail(setup, id, ["injected", "read"]);
    await ran();
    if (setup.mode === "tui") await worker.kill();
    for (const [at, file] of settings.entries())
      assert.deepEqual(readFileSync(file), before[at], `${file} is untouched`);
  },
};
