import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../terminal/tmux.ts";
import type { Case } from "../case.ts";
import { loss } from "../damage.ts";
import { expectTold } from "../expect.ts";
import { writeFleet } from "../fleet-file.ts";
import { headlessCommand } from "../harness/commands.ts";
import { killEverything, PaneWorker } from "../pane-worker.ts";
import type { LiveSetup } from "../setup.ts";

const HELLO = "hello there";

export const nothingUnsaid: Case = {
  letter: "ah",
  title: "a first prompt is not said again after /new; what a transcript deleted at the end lacks is told",
  modes: ["headless", "tui"],
  core: true,
  long: true,
  run: (setup) => (setup.mode === "tui" ? clearedThenKilled(setup) : deletedAtTheEnd(setup)),
};

async function clearedThenKilled(setup: LiveSetup): Promise<void> {
  const { renewsAtPrompt } = setup.traits;
  if (renewsAtPrompt !== null) {
    setup.notes.push(renewsAtPrompt);
    return;
  }
  writeFileSync(join(setup.home.project, "hello.md"), HELLO);
  writeFleet(setup, setup.home.project, ["one"], "hello.md");
  await setup.home.json(["up", "--yes"]);
  const worker = new PaneWorker(setup, "one", {});
  const first = await until("its first turn", async () => {
    const id = await worker.session();
    return id !== "none" && setup.hasWritten(id, "turns=1 first=hello") ? id : null;
  });
  await worker.renew();
  await worker.until("in another conversation", ({ session }) => session !== null && session.id !== first);
  await killEverything(setup, [worker]);

  await setup.home.json(["up", "--yes"]);
  await expectTold(setup, worker, await worker.say("again"), ["again"]);
  const hellos = setup.turnRequests().filter(({ turns }) => turns.includes(HELLO));
  assert.equal(hellos.length, 1, "the first prompt was said once");
  await setup.home.perdure(["down"]);
}

async function deletedAtTheEnd(setup: LiveSetup): Promise<void> {
  const worker = setup.worker("w");
  const session = await expectTold(setup, worker, await worker.say("one"), ["one"]);
  const mine = ["one"];
  for (const word of ["two", "three"]) {
    await worker.say(word);
    mine.push(word);
    await loss(setup, session).does();
    const next = `after ${word}`;
    const before = setup.turnRequests().length;
    const command = headlessCommand(setup.vendor, [], next);
    const { code, stderr } = await setup.perdure(["run", worker.name, "--", ...command]);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /restored from perdure's copy/);
    const told =
      setup
        .turnRequests()
        .slice(before)
        .find(({ turns }) => turns.at(-1) === next)?.turns ?? [];
    const missing = mine.filter((each) => !told.includes(each));
    if (missing.length > 0) assert.match(stderr, /lost/, `${missing.join(", ")} is missing, and that is told`);
    setup.notes.push(missing.length === 0 ? "nothing was missing" : `missing, and told: ${missing.join(", ")}`);
    mine.splice(0, mine.length, ...told);
  }
}
