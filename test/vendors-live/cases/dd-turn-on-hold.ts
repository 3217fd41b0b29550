import assert from "node:assert/strict";
import type { Case } from "../case.ts";
import { showMail, timesReached, untilMail } from "../mail.ts";
import type { LiveSetup } from "../setup.ts";
import { TurnWorker } from "../turn-worker.ts";

export const turnOnHold: Case = {
  letter: "dd",
  title: "a turn that a missing login ends puts the worker on hold with its mail; after the remedy the answer comes",
  modes: ["headless"],
  elsewhere: "a turn has no terminal",
  core: true,
  long: true,
  run: (setup) => heldBy(setup, 401, "authentication_error"),
};

export const turnOverLimit: Case = {
  letter: "de",
  title: "a turn that a limit ends puts the worker on hold with its mail; after it has passed the answer comes",
  modes: ["headless"],
  elsewhere: "a turn has no terminal",
  // Some try again for more than a minute before they say so.
  core: false,
  run: (setup) => heldBy(setup, 429, "rate_limit_error"),
};

async function heldBy(setup: LiveSetup, status: number, kind: string): Promise<void> {
  const worker = await TurnWorker.up(setup, "w");
  const first = await worker.ask("one", "ask-1");
  assert.match(first.stdout, /^turns=1 /, first.stderr);

  const failure = { status, kind, retryAfterSeconds: null };
  setup.model.fail(failure);
  const since = performance.now();
  await sent(setup, worker.name, "two", "ask-2", "--expects-reply");
  const held = await worker.untilHeld();
  setup.notes.push(
    `${setup.vendor.name}: on hold ${Math.round((performance.now() - since) / 1_000)} s after ${status}`,
  );
  assert.match(held.attention ?? "", new RegExp(String(status)), "in the program's own words");
  assert.equal((await showMail(setup, "ask-2")).message.state, "queued", "its mail is kept");
  const tries = setup.model.requests.length;
  assert.match((await worker.history()).runs[0]?.turn?.reason ?? "", new RegExp(String(status)));

  // Nothing is tried again before somebody has looked.
  await sent(setup, worker.name, "three", "plain");
  assert.equal(setup.model.requests.length, tries);
  setup.model.fail(null);
  await setup.home.json(["up", "--yes"]);
  const shown = await untilMail(setup, "ask-2", ["answered"]);
  assert.match(shown.reply?.body ?? "", /^turns=\d+ first=.* last=.*two/s);
  assert.equal(timesReached(shown, "answered"), 1);
  assert.equal(timesReached(shown, "offered"), 2, JSON.stringify(shown.steps));
  await worker.onlySession();
}

async function sent(
  setup: LiveSetup,
  ...words: [to: string, text: string, id: string, ...more: string[]]
): Promise<void> {
  const [to, text, id, ...more] = words;
  const { code, stderr } = await setup.perdure(["send", to, text, "--id", id, ...more]);
  assert.equal(code, 0, stderr);
}
