import assert from "node:assert/strict";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Case } from "../case.ts";
import { entryOf, expectTold } from "../expect.ts";
import { headlessCommand } from "../harness/commands.ts";
import { putInFront } from "../program-in-front.ts";
import type { LiveSetup } from "../setup.ts";
import type { Worker } from "../worker.ts";

export const staleCopy: Case = {
  letter: "al",
  title: "A1: a program in front that leads to an older copy of the config dir is not proved, however often",
  modes: ["headless", "tui"],
  core: true,
  long: true,
  async run(setup) {
    const { variable } = setup.traits.config;
    const { env } = setup.configDir("own");
    const worker = setup.worker("w", { env });
    const session = await expectTold(setup, worker, await worker.say("one"), ["one"]);
    await worker.kill();
    const stale = setup.configDir("stale");
    rmSync(join(setup.home.dir, "stale"), { recursive: true });
    cpSync(join(setup.home.dir, "own"), join(setup.home.dir, "stale"), { recursive: true });
    await expectTold(setup, worker, await worker.say("two"), ["one", "two"]);
    await worker.kill();

    const takeAway = putInFront(setup, `export ${variable}='${stale.env[variable]}'; real "$@"`);
    for (const text of ["astray", "astray again"]) {
      const told = await sayAstray(setup, env, text);
      const { id, proved, evidence } = entryOf(await worker.history());
      setup.notes.push(`${told?.includes("two") ? "its own" : "the copy"}: ${proved}, ${evidence}`);
      assert.equal(id, session);
      if (told?.includes("two")) assert.equal(proved, true, evidence ?? "not proved");
      else assert.notEqual(proved, true, `proved in a copy: ${evidence}`);
    }
    takeAway();
    if (setup.traits.hasRunHome === true) await expectCopyOfRunHomeTold(setup, env, worker);
    const back = await setup.worker("w", { env }).say("three");
    assert.deepEqual(back.turns.slice(0, 2), ["one", "two"], "nothing of its own is lost");
    assert.equal(await worker.session(), session);
  },
};

/** A program in front, such as a sandbox, may copy the home that a run has of its own, with our hooks, and what its links lead to. */
async function expectCopyOfRunHomeTold(
  setup: LiveSetup,
  env: Readonly<Record<string, string>>,
  worker: Worker,
): Promise<void> {
  const { variable } = setup.traits.config;
  const copy = join(setup.home.dir, "copied");
  const takeAway = putInFront(setup, `cp -rL "$${variable}" '${copy}'; export ${variable}='${copy}'; real "$@"`);
  await sayAstray(setup, env, "in a copy");
  const { proved, evidence } = entryOf(await worker.history());
  setup.notes.push(`a copy of the run's home: ${proved}, ${evidence}`);
  assert.equal(proved, false, evidence ?? "not proved");
  takeAway();
}

/** Says something to a run that may be led astray, and lets it end; returns the turns that the model was told, if it was asked. */
async function sayAstray(
  setup: LiveSetup,
  env: Readonly<Record<string, string>>,
  text: string,
): Promise<readonly string[] | null> {
  const since = setup.model.requests.length;
  const worker = setup.worker("w", { env, said: "one" });
  if (setup.mode === "headless")
    await setup.perdure(["run", "w", "--", ...headlessCommand(setup.vendor, [], text)], { env });
  else await worker.say(text);
  if (setup.mode === "tui") await worker.kill();
  else await worker.ended();
  // The end is recorded a moment after it is seen, where the vendor's own program is asked.
  await setup.perdure(["drill", "w"], { env });
  const request = setup.turnRequests().find(({ index, turns }) => index >= since && turns.at(-1) === text);
  return request?.turns ?? null;
}
