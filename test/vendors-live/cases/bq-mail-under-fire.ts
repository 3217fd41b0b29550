import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import type { WorkerSummary } from "../../../src/protocol/records/worker.ts";
import type { Case } from "../case.ts";
import { paneWorker, sendMail, showMail, timesMarkedAgain, timesReached, timesTold, type ShownMail } from "../mail.ts";
import type { PaneWorker } from "../pane-worker.ts";
import type { LiveSetup } from "../setup.ts";

/** The victims of a kill, and how far the mail is then: sent, or handed over with nobody knowing yet whether the model got it. */
const FIRES = [
  { kills: ["agent"], when: "sent" },
  { kills: ["daemon"], when: "handed over" },
  { kills: ["agent"], when: "handed over" },
  { kills: ["tmux"], when: "sent" },
  { kills: ["agent", "daemon"], when: "handed over" },
  { kills: ["daemon", "tmux"], when: "handed over" },
] as const;

/** Five hundred with seven vendors. */
const MESSAGES_PER_FIRE = 12;

/** A fast program is woken by each of them, more often than in an hour by default. */
const WAKES_PER_HOUR = 600;

/** A slow program takes its time to come back, on a busy machine. */
const STALLED_MS = 240_000;

export const mailUnderFire: Case = {
  letter: "bq",
  title: "mail to one that is killed again and again, with the daemon and tmux, is all in its conversation",
  modes: ["tui"],
  elsewhere: "without a terminal nobody is idle",
  // Campaign 29 plays it.
  core: false,
  async run(setup) {
    const worker = await paneWorker(setup, "w");
    appendFileSync(join(setup.home.project, "perdure.toml"), `[mail]\nwakes_per_hour = ${WAKES_PER_HOUR}\n`);
    await worker.say("hello");
    const ids: string[] = [];
    for (const { kills, when } of FIRES) {
      for (let n = 0; n < MESSAGES_PER_FIRE; n++) ids.push(await sendMail(setup, "w", `letter ${ids.length} of many`));
      if (when === "handed over") await untilHandedOver(setup, ids.at(-MESSAGES_PER_FIRE) ?? "");
      for (const what of kills) await kill(setup, worker, what);
      worker.gone();
      await setup.home.json(["up", "--yes"]);
    }
    await untilAllRead(setup);
    const again = await checkTold(setup, worker, ids);
    const kills = FIRES.reduce((sum, fire) => sum + fire.kills.length, 0);
    setup.notes.push(`realMessages=${ids.length} realKills=${kills} realAgain=${again}`);
  },
};

/** Patiently: a channel that failed once is left alone for a minute. A worker that was killed too often is brought up. */
async function untilHandedOver(setup: LiveSetup, id: string): Promise<void> {
  const deadline = Date.now() + STALLED_MS;
  for (;;) {
    const shown = await showMail(setup, id);
    if (shown.message.state !== "queued") return;
    if (Date.now() > deadline) {
      throw new Error(`never handed over: ${JSON.stringify(shown)}\n${await whatHappened(setup)}`);
    }
    if ((await workerOf(setup)).state === "crash-looping") await setup.home.json(["up", "--yes"]);
  }
}

async function kill(setup: LiveSetup, worker: PaneWorker, what: "agent" | "daemon" | "tmux"): Promise<void> {
  const { home } = setup;
  if (what === "daemon") process.kill(home.daemonPid() ?? 0, "SIGKILL");
  if (what === "tmux") home.killTmux();
  const run = what === "agent" ? (await worker.detail()).run : null;
  if (run !== null) home.killRun(run.id);
}

/** Waits, for as long as there is less and less unread, until the worker is back and has read all; one killed too often is brought up. */
async function untilAllRead(setup: LiveSetup): Promise<void> {
  let left = Infinity;
  let deadline = Date.now() + STALLED_MS;
  for (;;) {
    const { unread, state } = await workerOf(setup);
    if (unread === 0 && state === "idle") return;
    if (unread < left) deadline = Date.now() + STALLED_MS;
    left = unread;
    if (Date.now() > deadline) throw new Error(`${unread} messages stay unread: ${await whatHappened(setup)}`);
    await setup.home.json(["up", "--yes"]);
  }
}

async function workerOf(setup: LiveSetup): Promise<WorkerSummary> {
  const { workers } = await setup.home.json<{ workers: [WorkerSummary] }>(["ls"]);
  return workers[0];
}

async function whatHappened(setup: LiveSetup): Promise<string> {
  const { stdout } = await setup.perdure(["events", "--json"]);
  return `${JSON.stringify(await workerOf(setup))}\n${stdout.slice(-4_000)}`;
}

/**
 * Every message was told to the model: in some request, for there are programs that forget what a hook said when they are started again.
 * None more than once, but where a run ended on the way, and with a word about that.
 */
async function checkTold(setup: LiveSetup, worker: PaneWorker, ids: readonly string[]): Promise<number> {
  await worker.say("the end");
  const requests = setup.turnRequests();
  let again = 0;
  for (const [number, id] of ids.entries()) {
    const shown = await showMail(setup, id);
    const times = requests.map((request) => timesTold(request, `letter ${number} of many`));
    const most = Math.max(...times);
    const request = requests[times.indexOf(most)];
    const what = `letter ${number}, told ${most} times: ${JSON.stringify(shown.steps)}`;
    assert.ok(request !== undefined && most > 0, `missing: ${what}`);
    assert.ok(most <= 1 + timesEnded(shown), `too often: ${what}\n${JSON.stringify(request.messages)}`);
    assert.ok(timesMarkedAgain(request, id) >= most - 1, `without saying so: ${what}`);
    assert.equal(timesReached(shown, "injected"), 1, `injected once: ${what}`);
    if (most > 1) again++;
  }
  return again;
}

/** How often a run ended between the handing over and its sign. */
function timesEnded({ steps }: ShownMail): number {
  return steps.filter(({ state, reason }) => state === "queued" && reason === "its run ended first").length;
}
