import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Case } from "../case.ts";
import { TerminalWorker } from "../terminal-worker.ts";

export const changedInside: Case = {
  letter: "bn",
  title: "what the user changes inside the program is in their own file, after a kill, and nothing of ours is",
  modes: ["tui"],
  elsewhere: "without a terminal nobody changes anything inside",
  core: true,
  async run(setup) {
    const { line, steps, done, file, saved } = setup.traits.changing;
    const worker = new TerminalWorker(setup, "w", {});
    await worker.say("one");
    const terminal = await worker.inFront();
    await terminal.command(line);
    for (const { sees, press } of steps) {
      await terminal.until(String(sees), (screen) => sees.test(screen));
      for (const key of press) await terminal.press([key]);
    }
    await terminal.until("the change", (screen) => done.test(screen));
    // The program has written it: to the user's file, or to the run's copy of that.
    const [own, copies] = [join(setup.home.dir, file), join(setup.home.state, "runs", "*", file)];
    const isWritten = (): boolean => globSync([own, copies]).some((each) => saved.test(readFileSync(each, "utf8")));
    await terminal.until(`the change in ${file}`, isWritten);
    await worker.kill();
    const text = readFileSync(own, "utf8");
    assert.match(text, saved);
    assert.ok(!text.includes(setup.home.state), `nothing of ours in ${text}`);
  },
};
