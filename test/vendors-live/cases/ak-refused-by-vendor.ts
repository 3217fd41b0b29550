import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { headlessCommand, runIn } from "../harness/commands.ts";
import { binFolder } from "../harness/pins.ts";
import type { Case } from "../case.ts";
import { expectRefused, expectTold } from "../expect.ts";
import type { LiveSetup } from "../setup.ts";
import type { Traits } from "../traits.ts";
import type { Worker } from "../worker.ts";

export const refusedByVendor: Case = {
  letter: "ak",
  title: "refused by the program itself: unresumable, until a start succeeds",
  modes: ["headless"],
  elsewhere: "the program ends before it looks for a terminal",
  core: true,
  long: true,
  async run(setup) {
    const worker = setup.worker("w");
    const session = await expectTold(setup, worker, await worker.say("one"), ["one"]);

    // A mistake in the arguments is not the conversation's.
    const bad = await setup.perdure(["run", "w", "--", ...headlessCommand(setup.vendor, ["--no-such-option"], "two")]);
    assert.ok(bad.code > 0, bad.stdout);
    await worker.until("stopped", ({ state, run }) => run === null && state === "stopped");

    const { bin, mistake } = misleading(setup);
    worker.from({ env: { PATH: `${bin}:${setup.home.env.PATH}` } });
    await assert.rejects(worker.say("two"));
    const refused = await worker.until("unresumable", ({ state }) => state === "unresumable");
    assert.match(refused.attention ?? "", new RegExp(session));
    // Nobody has overheard why, and the next start may do better: the drill warns, and refuses nobody.
    const drilled = await setup.perdure(["drill", "w"]);
    assert.equal(drilled.code, 0, drilled.stdout);
    assert.match(drilled.stdout, /did not resume its conversation/);

    rmSync(mistake);
    assert.equal(await expectTold(setup, worker, await worker.say("two"), ["one", "two"]), session);
    await worker.until("stopped", ({ state }) => state === "stopped");
    assert.equal((await setup.perdure(["drill", "w"])).code, 0);
    if (setup.traits.archiving) await archived(setup, worker, session, setup.traits.archiving);
  },
};

/** Expects an archived conversation to be refused before the start, by drill and run alike, with the command that brings it back. */
async function archived(
  setup: LiveSetup,
  worker: Worker,
  session: string,
  { put, back }: NonNullable<Traits["archiving"]>,
): Promise<void> {
  const { name } = setup.vendor;
  const done = await runIn(setup.home, [name, ...put(session)]);
  assert.equal(done.code, 0, done.stderr);
  const command = [name, ...back(session)].join(" ");
  const drilled = await setup.perdure(["drill", "w"]);
  assert.equal(drilled.code, 5, drilled.stdout);
  assert.ok(drilled.stdout.includes(command), drilled.stdout);
  await expectRefused(setup, worker, { code: 5, says: ["is archived", command] });
  const took = await runIn(setup.home, command.split(" "));
  assert.equal(took.code, 0, took.stderr);
  assert.equal((await setup.perdure(["drill", "w"])).code, 0);
  assert.equal(await expectTold(setup, worker, await worker.say("three"), ["one", "two", "three"]), session);
}

/** A program in front of the real one that leads it to another config dir, for as long as the mistake is there. */
function misleading(setup: LiveSetup): { bin: string; mistake: string } {
  const { env } = setup.configDir("other");
  const bin = join(setup.home.dir, "in-front");
  const mistake = join(setup.home.dir, "mistake");
  mkdirSync(bin);
  writeFileSync(mistake, "");
  const { name } = setup.vendor;
  const exports = Object.entries(env).map(([variable, value]) => `export ${variable}='${value}'`);
  const script = ["#!/bin/sh", `if [ -e '${mistake}' ]; then ${exports.join("; ")}; fi`];
  writeFileSync(join(bin, name), `${script.join("\n")}\nexec '${join(binFolder(name), name)}' "$@"\n`, { mode: 0o755 });
  return { bin, mistake };
}
