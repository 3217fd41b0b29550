import type { Case } from "../case.ts";
import { writeFleet } from "../fleet-file.ts";
import { PaneWorker } from "../pane-worker.ts";
import { TerminalWorker } from "../terminal-worker.ts";

export const interrupted: Case = {
  letter: "am",
  title: "C1: idle after its user has interrupted a turn, in a terminal of the user's own and in a pane",
  modes: ["tui"],
  elsewhere: "nobody presses a key without a terminal",
  core: true,
  async run(setup) {
    const own = new TerminalWorker(setup, "own", {});
    await interruptTurn(own);
    await own.kill();
    writeFleet(setup, setup.home.project, ["pane"], null);
    await setup.home.json(["up", "--yes"]);
    await interruptTurn(new PaneWorker(setup, "pane", {}));
  },
};

async function interruptTurn(worker: TerminalWorker): Promise<void> {
  await worker.say("one");
  await worker.hold("two");
  await worker.until("in a turn", ({ state }) => state === "busy");
  await worker.interrupt();
  await worker.until("at rest after the interruption", ({ state }) => state === "idle");
}
