import assert from "node:assert/strict";
import { shellWords } from "../../../src/util/shell-quote.ts";
import type { Finished } from "../../support/home.ts";
import { headlessCommand } from "../harness/commands.ts";
import type { Case } from "../case.ts";
import { entryOf, expectTold } from "../expect.ts";
import { putInFront } from "../program-in-front.ts";
import type { LiveSetup } from "../setup.ts";

export const headlessElsewhere: Case = {
  letter: "ac",
  title: "a headless run that ended in another conversation, or in none, does not end with 0",
  modes: ["headless"],
  elsewhere: "in a terminal a person sees where the program is",
  core: true,
  async run(setup) {
    const worker = setup.worker("w");
    const session = await expectTold(setup, worker, await worker.say("one"), ["one"]);

    // The program in front leaves out what perdure has added: the vendor's begins a conversation of its own.
    const [, ...own] = headlessCommand(setup.vendor, [], "elsewhere");
    await expectFound(setup, session, "elsewhere", `real ${shellWords(own)}`);
    await expectFound(setup, session, "nowhere", "exit 0");

    const remove = putInFront(setup, "exit 7", "failing");
    const failed = await run(setup, "failing");
    assert.equal(failed.code, 7, failed.stderr);
    assert.deepEqual(linesOf(failed), []);
    remove();

    await expectTold(setup, worker, await worker.say("two"), ["one", "two"]);
  },
};

/** Says something with a script in front of the program: told in one line, never 0, and the conversation stays as it was. */
async function expectFound(setup: LiveSetup, session: string, text: string, script: string): Promise<void> {
  const before = await setup.transcriptOf(session);
  const remove = putInFront(setup, script, text);
  const ended = await run(setup, text);
  remove();
  const worker = setup.worker("w");
  await worker.ended();
  const { exit, sessions } = (await worker.history()).runs[0] ?? {};
  assert.equal(entryOf(await worker.history()).proved, false, JSON.stringify(sessions));
  assert.notEqual(ended.code, 0, `${text}: ${ended.stderr}`);
  // One that was seen elsewhere while it ran was stopped.
  if (exit === 0) assert.equal(ended.code, 5, ended.stderr);
  const [line = "", ...more] = linesOf(ended);
  assert.ok(line.includes(session) && line.includes("→"), ended.stderr);
  assert.deepEqual(more, []);
  assert.equal(await setup.transcriptOf(session), before);
}

function run(setup: LiveSetup, text: string): Promise<Finished> {
  return setup.perdure(["run", "w", "--", ...headlessCommand(setup.vendor, [], text)]);
}

function linesOf({ stderr }: Finished): string[] {
  return stderr.split("\n").filter((line) => line.includes("should have been in"));
}
