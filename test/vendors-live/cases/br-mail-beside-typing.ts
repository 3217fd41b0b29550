import type { Case } from "../case.ts";
import { sendMail, untilMail, untilTold, wakeableWorker } from "../mail.ts";
import type { LiveSetup } from "../setup.ts";
import type { TerminalWorker } from "../terminal-worker.ts";

const ROUNDS = 5;

export const mailBesideTyping: Case = {
  letter: "br",
  title: "the time from a send to the model's request, beside that from a person's Enter",
  modes: ["tui"],
  elsewhere: "without a terminal nobody is idle",
  // The benchmark plays it.
  core: false,
  async run(setup) {
    const worker = await wakeableWorker(setup, "w");
    await worker.say("hello");
    for (let round = 0; round < ROUNDS; round++) {
      const typedMs = await typed(setup, worker, `typed ${round}`);
      setup.notes.push(`typedMs=${typedMs.toFixed(1)} mailedMs=${(await mailed(setup, worker, round)).toFixed(1)}`);
    }
  },
};

/** The milliseconds from Enter to the request. */
async function typed(setup: LiveSetup, worker: TerminalWorker, text: string): Promise<number> {
  let askedAtMs = 0;
  const since = setup.model.requests.length;
  const asked = setup.model
    .until(({ index, auxiliary, turns }) => index >= since && !auxiliary && turns.at(-1) === text)
    .then(() => (askedAtMs = performance.now()));
  await worker.say(text);
  await asked;
  return askedAtMs - (await worker.inFront()).enteredAtMs;
}

/** The milliseconds from the start of `perdure send` to the request that has the mail, with the worker idle for a while. */
async function mailed(setup: LiveSetup, worker: TerminalWorker, round: number): Promise<number> {
  await worker.until("idle", ({ state }) => state === "idle");
  const text = `mailed ${round}`;
  let toldAtMs = 0;
  const since = setup.model.requests.length;
  const sentAtMs = performance.now();
  const id = await sendMail(setup, worker.name, text);
  await untilTold(setup, id, text, since).then(() => (toldAtMs = performance.now()));
  await untilMail(setup, id, ["read"]);
  return toldAtMs - sentAtMs;
}
