import assert from "node:assert/strict";
import type { WorkerState } from "../../../src/protocol/records/worker.ts";
import { until } from "../../terminal/tmux.ts";
import { killDaemon } from "../../support/persona-installer.ts";
import type { Case } from "../case.ts";
import type { LiveSetup } from "../setup.ts";
import { StateLog } from "../state-log.ts";
import type { Worker } from "../worker.ts";

export const trueState: Case = {
  letter: "ai",
  title: "C1: idle at rest, fresh and resumed; busy in a turn; whoever follows it",
  modes: ["headless", "tui"],
  core: true,
  long: true,
  async run(setup) {
    const worker = setup.worker("w");
    const states = new StateLog(setup);
    try {
      if (setup.mode === "headless") await withoutTerminal(setup, worker, states);
      else await inTerminal(setup, worker, states);
    } finally {
      states.stop();
    }
  },
};

async function inTerminal(setup: LiveSetup, worker: Worker, states: StateLog): Promise<void> {
  await worker.open();
  await worker.until("at rest, new", is("idle"));
  await worker.say("one");
  await worker.until("at rest after a turn", is("idle"));
  await worker.hold("two");
  await worker.until("in a turn", is("busy"));
  await killDaemon(setup.home);
  await worker.until("in a turn that another daemon saw begin", is("busy"));
  // Killed in the middle of a turn, it comes back at rest: the turn is nobody's any more.
  await worker.kill();
  await worker.open();
  await worker.until("at rest, resumed after a kill in a turn", is("idle"));
  await killDaemon(setup.home);
  await worker.until("at rest, before a daemon that did not see it begin", is("idle"));
  await worker.say("three");
  await worker.until("at rest after a turn in the resumed one", is("idle"));
  await worker.kill();
  await until("its end in the log", () => (states.of("w").at(-1) === "stopped" ? true : null));
  const before = states.of("w").length;
  await worker.open();
  await worker.until("at rest, resumed", is("idle"));
  // Nobody ever hears that a program works which only starts.
  const told = states.of("w").slice(before);
  assert.ok(!told.includes("busy"), `busy without a turn: ${told.join(", ")}`);
}

/** Nobody speaks to a headless agent, so it never waits for its user. */
async function withoutTerminal(_setup: LiveSetup, worker: Worker, states: StateLog): Promise<void> {
  await worker.hold("one");
  await worker.until("in its turn", ({ state }) => state === "busy" || state === "running");
  await worker.kill();
  const seen = new Set(states.of("w"));
  assert.ok(!seen.has("idle"), `idle without a terminal: ${[...seen].join(", ")}`);
}

function is(wanted: WorkerState): (worker: { state: WorkerState }) => boolean {
  return ({ state }) => state === wanted;
}
