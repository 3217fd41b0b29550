import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { shellWords } from "../../../src/util/shell-quote.ts";
import { cannotLock, lock, lockCommand, LOCKED_WHY, unlock } from "../../support/unwritable.ts";
import { headlessCommand } from "../harness/commands.ts";
import type { Case } from "../case.ts";
import { entryOf, expectRefused, expectTold } from "../expect.ts";
import { putInFront } from "../program-in-front.ts";
import type { LiveSetup } from "../setup.ts";
import type { Worker } from "../worker.ts";

export const unwritable: Case = {
  letter: "ao",
  title: "a conversation that cannot be written: refused before the start, and no turn is lost",
  modes: ["headless"],
  elsewhere: "it is refused before there is a terminal",
  core: true,
  long: true,
  async run(setup) {
    const why = cannotLock();
    if (why !== null) {
      setup.notes.push(`nothing was tried: ${why}`);
      return;
    }
    const worker = setup.worker("w");
    const session = await expectTold(setup, worker, await worker.say("one"), ["one"]);
    const file = await worker.transcript();

    const undo = lock(file);
    try {
      await expectRefusedBoth(setup, worker, [`${file}, which cannot be written (${LOCKED_WHY})`, "perdure run w"]);
    } finally {
      undo();
    }
    assert.equal(await expectTold(setup, worker, await worker.say("two"), ["one", "two"]), session);

    await expectNotBegun(setup, file);
    await expectSeenLater(setup, worker, file);
    assert.equal(await expectTold(setup, worker, await worker.say("four"), ["one", "two", "four"]), session);
  },
};

async function expectRefusedBoth(setup: LiveSetup, worker: Worker, says: readonly string[]): Promise<void> {
  await expectRefused(setup, worker, { code: 5, says });
  const drilled = await setup.perdure(["drill", worker.name]);
  assert.equal(drilled.code, 5, drilled.stdout);
  const text = drilled.stdout.replaceAll(/\s+/g, " ");
  for (const words of says) assert.ok(text.includes(words), `${words} in: ${drilled.stdout}`);
}

/** Expects no conversation to be begun where none can be written: the model is not asked, and nobody has the name. */
async function expectNotBegun(setup: LiveSetup, file: string): Promise<void> {
  const locks = placesOf(setup, file).map((path) => lock(path));
  try {
    const asked = setup.turnRequests().length;
    const refused = await setup.perdure(["run", "new", "--", ...headlessCommand(setup.vendor, [], "lost")]);
    assert.equal(refused.code, 5, refused.stdout + refused.stderr);
    assert.ok(refused.stderr.includes(`which cannot be written (${LOCKED_WHY})`), refused.stderr);
    assert.equal(setup.turnRequests().length, asked, "the model was not asked");
    assert.equal((await setup.perdure(["show", "new"])).code, 3);
  } finally {
    for (const undo of locks) undo();
  }
}

/** The folders in which the vendor may make the file of a new conversation beside this one; or its database. */
function placesOf({ home, vendor, traits }: LiveSetup, file: string): string[] {
  if (traits.database !== null) return [file];
  const top = dirname(join(home.dir, vendor.transcripts.replace(/\*.*/, "x")));
  const places: string[] = [];
  for (let folder = dirname(file); folder.startsWith(top); folder = dirname(folder)) places.push(folder);
  return places;
}

/** Expects a loss that nobody could foresee to be known at the end of the run: by the program itself, or by what is not there. */
async function expectSeenLater(setup: LiveSetup, worker: Worker, file: string): Promise<void> {
  const remove = putInFront(setup, `${shellWords(lockCommand(file))}\nreal "$@"`, "three");
  const { code } = await setup.perdure(["run", "w", "--", ...headlessCommand(setup.vendor, [], "three")]);
  remove();
  unlock(file);
  if (setup.traits.losesSilently !== true) return assert.notEqual(code, 0, "the program says so itself");
  await worker.until("not proved", (each) => each.run === null && each.session?.proved === false);
  assert.match(entryOf(await worker.history()).evidence ?? "", /recorded nothing of it/);
}
