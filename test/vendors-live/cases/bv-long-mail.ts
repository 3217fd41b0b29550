import assert from "node:assert/strict";
import type { Case } from "../case.ts";
import {
  sayWithTool,
  sendMail,
  showMail,
  timesTold,
  untilLaidOut,
  untilMail,
  untilTold,
  wakeableWorker,
} from "../mail.ts";
import type { LiveSetup } from "../setup.ts";
import type { Worker } from "../worker.ts";

/** As long as a diff that one agent pipes to another. */
const LINES = 600;
const LINE = "x".repeat(80);

export const longMail: Case = {
  letter: "bv",
  title: "a long message is told whole by every channel, or stays in the mailbox and the model is told so",
  modes: ["headless", "tui"],
  core: true,
  unhurried: "tui",
  against: ({ database }) => (database === null ? null : "it has no hooks, and those are what cuts a text short"),
  async run(setup) {
    const args = setup.traits.shell.args[setup.mode];
    const isWoken = setup.mode === "tui";
    const worker = isWoken ? await wakeableWorker(setup, "w", args) : setup.worker("w", { args });
    await worker.say("one");
    await sendAndExpect(setup, "at first", async () => {
      if (!isWoken) await worker.say("two");
    });
    await behindTool(setup, worker);
    if (isWoken) await behindTurn(setup, worker);
  },
};

async function behindTool(setup: LiveSetup, worker: Worker): Promise<void> {
  const { open, said } = await sayWithTool(setup, worker, "three");
  await sendAndExpect(setup, "behind a tool", async () => Promise.resolve(open()));
  await said;
}

async function behindTurn(setup: LiveSetup, worker: Worker): Promise<void> {
  await worker.until("idle", ({ state }) => state === "idle");
  await worker.hold("four");
  await sendAndExpect(setup, "behind a turn", async () => setup.model.release());
}

/** Sends the message, lets the program go on, and checks what its model is told. */
async function sendAndExpect(setup: LiveSetup, what: string, goOn: () => Promise<void>): Promise<void> {
  const since = setup.model.requests.length;
  const lines = Array.from({ length: LINES }, () => `${what} ${LINE}`);
  const id = await sendMail(setup, "w", [...lines, `${what}: the end`].join("\n"));
  if (what !== "at first") await untilLaidOut(setup, id);
  await goOn();
  const told = await untilTold(setup, id, id, since);
  const head = `Message ${id} from \\S+, \\S+`;
  if (new RegExp(`${head}\\. It is too long to stand here`).test(JSON.stringify(told.body))) {
    // In a terminal it may have been told whole a moment later.
    if (setup.mode === "headless") {
      assert.equal(timesTold(told, `${what} ${LINE}`), 0, `${what}: nothing of it is told`);
      assert.match((await showMail(setup, id)).message.state, /^(?:queued|offered)$/, `${what}: it waits`);
      return;
    }
  }
  const whole = await untilTold(setup, id, `${what}: the end`, since);
  assert.equal(timesTold(whole, `${what} ${LINE}`), LINES, `${what}: with all its lines, once`);
  await untilMail(setup, id, ["injected", "read"]);
}
