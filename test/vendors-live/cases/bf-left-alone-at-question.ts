import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { adapterOf } from "../../../src/vendors/index.ts";
import { dialogOn } from "../../../src/vendors/shared/screen.ts";
import type { Case } from "../case.ts";
import { sendMail, timesTold, untilMail } from "../mail.ts";
import { answerQuestion } from "../question.ts";
import type { LiveSetup } from "../setup.ts";

/** Nobody tells that nothing happened: longer than the slowest channel takes. */
const LEFT_ALONE_MS = 12_000;

export const leftAloneAtQuestion: Case = {
  letter: "bf",
  title: "mail leaves one alone that asks for permission or trust, until it is answered",
  modes: ["tui"],
  elsewhere: "without a terminal nobody is asked",
  core: true,
  unhurried: true,
  against: ({ asking }) => (asking === null ? "it asks nobody" : null),
  async run(setup) {
    const { asking } = setup.traits;
    if (asking === null) return;
    await leavesDialogAlone(setup);
    const { name, interactive } = setup.vendor;
    asking.configure?.(setup.home.dir);
    const command = [name, ...interactive.before, ...asking.args, ...setup.traits.interactive];
    const terminal = await setup.terminal(setup.inTerminal(["run", "w", "--", ...command], {}));
    await terminal.ready();
    await terminal.prompt(`go ${asking.call}`);
    await terminal.until("the question", (screen) => asking.question.test(screen));
    const asked = setup.model.requests.length;
    const id = await sendMail(setup, "w", "the build is red");
    await sleep(LEFT_ALONE_MS);
    assert.match(await terminal.screen(), asking.question, "the question is still there");
    assert.equal(setup.model.requests.length, asked, "the model was told nothing");
    assert.equal(existsSync(join(setup.home.project, "it")), false, "nothing was allowed");
    await untilMail(setup, id, ["queued"]);

    await answerQuestion(terminal, asking);
    const told = await setup.model.until((request) => timesTold(request, "the build is red") > 0);
    assert.equal(timesTold(told, "the build is red"), 1);
    await terminal.ready();
    assert.ok(existsSync(join(setup.home.project, "it")), "the tool ran when it was allowed");
    await untilMail(setup, id, ["read"]);
  },
};

/** In a folder it does not know it asks first whether to trust that, with mail waiting. */
async function leavesDialogAlone(setup: LiveSetup): Promise<void> {
  const { distrusts } = setup.traits.asking ?? {};
  if (!distrusts) return;
  const { name, interactive } = setup.vendor;
  const folder = join(setup.home.dir, "strange");
  mkdirSync(folder);
  distrusts.configure?.(setup.home.dir, folder);
  const command = [name, ...interactive.before, ...setup.traits.interactive];
  const terminal = await setup.terminal(setup.inTerminal(["run", "v", "--", ...command], { cwd: folder }));
  const isAsking = (screen: string): boolean => dialogOn(screen, adapterOf(name)?.screen?.dialogs) !== null;
  await terminal.until("its dialog", isAsking);
  const id = await sendMail(setup, "strange/v", "trust me");
  await sleep(LEFT_ALONE_MS);
  assert.ok(isAsking(await terminal.screen()), "the dialog is still there");
  assert.deepEqual(setup.model.requests, [], "the model was asked nothing");
  await untilMail(setup, id, ["queued"]);
  await terminal.kill();
}
