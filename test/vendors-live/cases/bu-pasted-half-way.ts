import assert from "node:assert/strict";
import type { Case } from "../case.ts";
import type { Terminal } from "../harness/terminal.ts";
import {
  pastedWorker,
  sendMail,
  showMail,
  timesMarkedAgain,
  timesTold,
  untilMail,
  untilTold,
  whyNotPasted,
} from "../mail.ts";
import type { LiveSetup } from "../setup.ts";

/** A quick daemon may be through before it is killed: then with the next message. */
const TRIES = 5;

const HEAD = /perdure mail \(m-[0-9a-f]{16}\)\[Pasted/;

export const pastedHalfWay: Case = {
  letter: "bu",
  title:
    "mail that a daemon had pasted when it was killed is sent by the next one, once; beside what a person typed, by that person alone",
  modes: ["tui"],
  elsewhere: "without a terminal nothing is pasted",
  core: true,
  against: whyNotPasted,
  async run(setup) {
    const worker = await pastedWorker(setup, "w");
    await worker.say("one");
    const terminal = await worker.inFront();

    const since = setup.model.requests.length;
    const alone = await pastedHalf(setup, terminal, "is the build red");
    assert.equal((await showMail(setup, alone)).message.state, "offered");
    await expectToldOnce(setup, alone, "is the build red", since);
    await worker.until("idle", ({ state }) => state === "idle");

    const asked = setup.model.requests.length;
    const beside = await pastedHalf(setup, terminal, "and the tests");
    await terminal.type(" says who");
    await worker.until(
      "it told to whoever looks",
      ({ attention }) => attention?.includes("in its input line") === true,
    );
    assert.match(await terminal.screen(), HEAD);
    assert.match(await terminal.screen(), / says who/);
    assert.deepEqual(
      setup.model.requests.slice(asked).filter(({ auxiliary }) => !auxiliary),
      [],
    );
    await terminal.press(["Enter"]);
    await expectToldOnce(setup, beside, "and the tests", asked);
    await worker.until("idle", ({ state, attention }) => state === "idle" && attention === null);
  },
};

/** Sends mail, and kills the daemon when it has pasted that and before it presses Enter. */
async function pastedHalf(setup: LiveSetup, terminal: Terminal, text: string): Promise<string> {
  for (let left = TRIES; left > 0; left--) {
    const since = setup.model.requests.length;
    const id = await sendMail(setup, "w", text);
    const daemon = setup.home.daemonPid() ?? 0;
    await terminal.until("the paste", (screen) => HEAD.test(screen));
    process.kill(daemon, "SIGKILL");
    const screen = await terminal.screen();
    if (HEAD.test(screen) && setup.model.requests.length === since) return id;
    await untilMail(setup, id, ["read"]);
  }
  throw new Error(`the daemon was faster ${TRIES} times`);
}

async function expectToldOnce(setup: LiveSetup, id: string, text: string, since: number): Promise<void> {
  const told = await untilTold(setup, id, text, since);
  assert.equal(timesTold(told, text), 1);
  assert.equal(timesMarkedAgain(told, id), 0, "nobody has seen it before");
  const { steps } = await untilMail(setup, id, ["read"]);
  assert.deepEqual(
    steps.map(({ state }) => state),
    ["queued", "offered", "injected", "read"],
  );
}
