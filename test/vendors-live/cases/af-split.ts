import assert from "node:assert/strict";
import { until } from "../../terminal/tmux.ts";
import type { Case } from "../case.ts";
import { expectRefused, expectTold } from "../expect.ts";
import { interactiveCommand } from "../harness/commands.ts";
import type { Terminal } from "../harness/terminal.ts";
import type { LiveSetup } from "../setup.ts";
import type { Worker } from "../worker.ts";

export const split: Case = {
  letter: "af",
  title: "opened by hand beside the worker: the worker's own turn is never left out in silence",
  modes: ["tui"],
  elsewhere: "without a terminal no two processes wait in one conversation",
  core: true,
  long: true,
  async run(setup) {
    const worker = setup.worker("w");
    const session = await expectTold(setup, worker, await worker.say("one"), ["one"]);
    if (setup.traits.refusesSecond !== null) {
      setup.notes.push(`${setup.vendor.name} itself refuses to open a conversation that is open`);
      return;
    }
    await besideIt(setup, worker, session, { last: "one", own: "two", byHand: "three by hand" });
    if (!setup.traits.splits) {
      const { turns } = await setup.worker("w", { said: "one" }).say("four");
      assert.ok(turns.includes("two") && turns.at(-1) === "four", `its own turn is there: ${turns.join(", ")}`);
      setup.notes.push(`${setup.vendor.name} goes on with: ${turns.join(", ")}`);
      return;
    }

    const ways = [`adopt ${worker.name} --kept`, `run ${worker.name} --accept`];
    const { text } = await expectRefused(setup, worker, {
      code: 5,
      says: [session, '"two', '"three by hand', ...ways],
    });
    const drill = await setup.perdure(["drill", worker.name]);
    assert.equal(drill.code, 5);
    const said = drill.stdout.replaceAll(/\s+/g, " ");
    const reason = /Another process.*?\. The other ends with: .*?\./.exec(text)?.[0];
    assert.ok(reason !== undefined && said.includes(reason), `${reason} in: ${said}`);

    const kept = await setup.perdure(["adopt", worker.name, "--kept"]);
    assert.equal(kept.code, 0, kept.stderr);
    assert.match(kept.stderr, /set aside: .*custody/);
    assert.equal(await expectTold(setup, worker, await worker.say("four"), ["one", "two", "four"]), session);

    await besideIt(setup, worker, session, { last: "four", own: "five", byHand: "six by hand" });
    await expectRefused(setup, worker, { code: 5, says: ['"five', '"six by hand'] });
    const other = setup.worker("w", { accept: true, said: "six by hand" });
    const told = ["one", "two", "four", "six by hand", "seven"];
    assert.equal(await expectTold(setup, other, await other.say("seven"), told), session);
    await other.kill();
    const again = setup.worker("w", { said: "seven" });
    assert.equal(await expectTold(setup, again, await again.say("eight"), [...told, "eight"]), session);
  },
};

/** Opens the conversation by hand; the worker says one thing more and is killed; then something is said by hand. */
async function besideIt(
  setup: LiveSetup,
  worker: Worker,
  session: string,
  { last, own, byHand }: { last: string; own: string; byHand: string },
): Promise<void> {
  const other = await openedByHand(setup, session, last);
  await worker.say(own);
  await worker.kill();
  const answered = setup.turnRequests().length;
  await other.prompt(byHand);
  await until(`${byHand} to be asked`, () =>
    setup
      .turnRequests()
      .slice(answered)
      .some(({ turns }) => turns.at(-1) === byHand)
      ? true
      : null,
  );
  await until(`the answer to ${byHand} on disk`, () => (setup.hasWritten(session, `last=${byHand}`) ? true : null));
  await other.ready();
  // The program that leaves last says where the conversation goes on; one that is killed may have said nothing.
  await other.leave();
}

async function openedByHand(setup: LiveSetup, session: string, said: string): Promise<Terminal> {
  const { vendor, traits } = setup;
  const terminal = await setup.terminal(interactiveCommand(vendor, vendor.session.resume(session)));
  await terminal.shows(said);
  const { question, keys } = traits.secondAsks ?? { question: null, keys: [] };
  if (question) {
    const shown = await terminal.until(
      "open, or a question",
      (screen) => vendor.screen.empty.test(screen) || question.test(screen),
    );
    if (question.test(shown)) await terminal.press(keys);
  }
  await terminal.ready();
  return terminal;
}
