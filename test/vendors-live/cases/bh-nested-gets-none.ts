import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../terminal/tmux.ts";
import type { Case } from "../case.ts";
import { headlessCommand } from "../harness/commands.ts";
import { binFolder } from "../harness/pins.ts";
import { overBehind, sendMail, timesTold, untilLaidOut, untilMail } from "../mail.ts";
import type { LiveSetup } from "../setup.ts";

export const nestedGetsNone: Case = {
  letter: "bh",
  title: "the same program inside the worker gets none of its mail, and the worker gets it afterwards",
  modes: ["headless", "tui"],
  core: true,
  async run(setup) {
    const { shell, noHooks } = setup.traits;
    const isToldAtStart = setup.mode === "headless" && noHooks === true;
    const worker = setup.worker("w", { args: shell.args[setup.mode] });
    await worker.say("one");
    const { script, started, gate } = nestedScript(setup);
    const saying = worker.say(`start another ${shell.call(`sh ${script}`)}`);
    saying.catch(() => undefined); // it is awaited below
    await until("the tool", () => (existsSync(started) ? true : null));
    const id = await sendMail(setup, worker.name, "the build is red");
    if (!isToldAtStart) await untilLaidOut(setup, id);
    writeFileSync(gate, "");
    const nested = await setup.model.until(({ turns }) => turns.at(-1) === "nested");
    assert.equal(timesTold(nested, "the build is red"), 0, "the other program is told nothing");
    if (isToldAtStart) {
      await saying;
      await worker.say("again");
    }
    const told = await setup.model.until((request) => timesTold(request, "the build is red") > 0);
    assert.equal(told.turns[0], "one", "the worker is told");
    await overBehind(setup, saying, id);
    await untilMail(setup, id, ["injected", "read"]);
  },
};

/** A script that waits for the gate and becomes the vendor's program, with all that the worker's environment has. */
function nestedScript(setup: LiveSetup): { script: string; started: string; gate: string } {
  const { name } = setup.vendor;
  const [script = "", started = "", gate = ""] = ["nested.sh", "started", "gate"].map((file) =>
    join(setup.home.dir, file),
  );
  const [, ...words] = headlessCommand(setup.vendor, [], "nested");
  const command = [join(binFolder(name), name), ...words].map((word) => `'${word}'`).join(" ");
  // With what the user has set: some programs keep their own key and endpoint from what their tools run.
  const variables = Object.entries(setup.home.env).map(([key, value]) => `export ${key}='${value}'\n`);
  const wait = `touch '${started}'; while [ ! -e '${gate}' ]; do sleep 0.1; done\n`;
  writeFileSync(script, `${variables.join("")}${wait}exec ${command}\n`);
  return { script, started, gate };
}
