import assert from "node:assert/strict";
import { headlessCommand, interactiveCommand } from "../harness/commands.ts";
import type { Case } from "../case.ts";
import { entryOf, expectTold } from "../expect.ts";
import { putInFront } from "../program-in-front.ts";
import type { LiveSetup } from "../setup.ts";

export const recordingOff: Case = {
  letter: "ad",
  title: "a conversation that is not recorded is refused, before the start or at the next one",
  modes: ["headless", "tui"],
  core: true,
  against: ({ unrecorded }) => (unrecorded === null ? "nothing that is known turns its recording off" : null),
  async run(setup) {
    const { known = [], behind = null } = setup.traits.unrecorded ?? {};
    if (setup.mode === "headless") {
      for (const way of known) await expectRefusedFirst(setup, way);
    }
    if (behind !== null) await expectRefusedNext(setup, behind.script);
    if (behind !== null) await expectNotProved(setup, behind.script);
  },
};

type Known = NonNullable<LiveSetup["traits"]["unrecorded"]>["known"][number];

/** Expects a refusal before anything runs, with the name and the place of what turns recording off. */
async function expectRefusedFirst(setup: LiveSetup, { args = [], env = {}, configure, says }: Known): Promise<void> {
  const undo = configure?.(setup.home.dir, setup.home.project);
  const asked = setup.model.requests.length;
  const command = headlessCommand(setup.vendor, args, "hello");
  const refused = await setup.perdure(["run", "known", "--", ...command], { env });
  undo?.();
  assert.ok(refused.code === 5 || refused.code === 2, `${says}: ${refused.code} ${refused.stderr}`);
  assert.ok(refused.stderr.includes(says), `${says} in: ${refused.stderr}`);
  assert.equal(setup.model.requests.length, asked, "nobody was asked");
  assert.deepEqual(await setup.conversations(), []);
}

/** Expects a run that nobody knew to be unrecorded to be found when it is over, and the next start to be refused. */
async function expectRefusedNext(setup: LiveSetup, script: string): Promise<void> {
  const worker = setup.worker("w");
  const remove = putInFront(setup, script);
  if (setup.mode === "tui") await sayInTerminal(setup, "w", "hello");
  else await setup.perdure(["run", "w", "--", ...headlessCommand(setup.vendor, [], "hello")]);
  assert.ok(
    setup.model.requests.some(({ turns }) => turns.at(-1) === "hello"),
    "it was asked",
  );
  await worker.until("unresumable", ({ state }) => state === "unresumable");
  const { proved, evidence } = entryOf(await worker.history());
  assert.equal(proved, false);
  assert.match(evidence ?? "", /recorded nothing: is recording turned off\?/);

  const refusal = await worker.refused();
  assert.equal(refusal.code, 5, refusal.text);
  assert.ok(refusal.text.includes("recorded nothing") && refusal.text.includes("--fresh"), refusal.text);
  const drilled = await setup.perdure(["drill", "w"]);
  assert.equal(drilled.code, 5, drilled.stdout);
  assert.ok(drilled.stdout.includes("recorded nothing"), drilled.stdout);

  remove();
  const again = setup.worker("w", { fresh: true });
  await expectTold(setup, again, await again.say("anew"), ["anew"]);
}

/** A conversation that was recorded before keeps what it has; what is said without being recorded is no proof. */
async function expectNotProved(setup: LiveSetup, script: string): Promise<void> {
  const worker = setup.worker("v");
  const session = await expectTold(setup, worker, await worker.say("kept"), ["kept"]);
  await worker.kill();
  const remove = putInFront(setup, script);
  if (setup.mode === "tui") await sayInTerminal(setup, "v", "lost");
  else await setup.perdure(["run", "v", "--", ...headlessCommand(setup.vendor, [], "lost")]);
  remove();
  await worker.until("not proved", (each) => each.session?.proved === false);
  assert.match(entryOf(await worker.history()).evidence ?? "", /recorded nothing of it/);
  assert.equal(await expectTold(setup, worker, await worker.say("again"), ["kept", "again"]), session);
}

/** Says something to its answer, and kills the program: nothing of it comes to the disk that could be waited for. */
async function sayInTerminal(setup: LiveSetup, name: string, text: string): Promise<void> {
  const [program = "", ...words] = interactiveCommand(setup.vendor, []);
  const command = [program, ...words, ...setup.traits.interactive];
  const terminal = await setup.terminal(setup.inTerminal(["run", name, "--", ...command], {}));
  await terminal.ready();
  await terminal.prompt(text);
  await setup.model.until(({ turns }) => turns.at(-1) === text);
  await terminal.shows(`last=${text}`);
  await terminal.ready();
  await terminal.kill();
}
