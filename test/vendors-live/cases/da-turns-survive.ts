import assert from "node:assert/strict";
import type { Case } from "../case.ts";
import { showMail, timesReached, untilMail } from "../mail.ts";
import type { LiveSetup } from "../setup.ts";
import { TurnWorker } from "../turn-worker.ts";

export const turnsSurvive: Case = {
  letter: "da",
  title: "a worker without a process answers three processes in one conversation, whoever is killed meanwhile",
  modes: ["headless"],
  elsewhere: "a turn has no terminal",
  core: true,
  long: true,
  async run(setup) {
    const worker = await TurnWorker.up(setup, "w");
    const first = await worker.ask("one", "ask-1");
    assert.equal(first.code, 0, first.stderr);
    assert.match(first.stdout, /^turns=1 /);
    const session = await worker.onlySession();
    await daemonKilled(setup, worker);
    const isAnswered = await agentKilled(setup, worker);
    const last = await worker.ask("four", "ask-4");
    assert.equal(last.code, 0, last.stderr);
    const { turns } = await worker.told("four");
    const said = ["one", "two", ...(isAnswered ? ["three"] : [])].filter(
      (text) => !turns.some((turn) => turn.includes(text)),
    );
    assert.deepEqual(said, [], "the turns before are in the conversation");
    const times = turns.filter((turn) => turn.includes("three [[hold once]]")).length;
    assert.ok(times <= 1, "what was made again left nothing in the conversation the first time");
    assert.equal(await worker.onlySession(), session);
  },
};

/** The turn outlives the daemon, and the next daemon sends its answer. */
async function daemonKilled(setup: LiveSetup, worker: TurnWorker): Promise<void> {
  const asked = worker.ask("two [[hold]]", "ask-2");
  await worker.told("two [[hold]]");
  process.kill(setup.home.daemonPid() ?? 0, "SIGKILL");
  setup.model.release();
  const { code, stdout, stderr } = await asked;
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^turns=2 /);
  assert.equal(worker.timesAsked("two [[hold]]"), 1, "it was said once");
  assert.equal(timesReached(await showMail(setup, "ask-2"), "answered"), 1);
}

/**
 * A turn of which something shows is not said again: its ask is dead, with the reason. Where nothing shows it is, and answered once.
 * Returns whether it was answered.
 */
async function agentKilled(setup: LiveSetup, worker: TurnWorker): Promise<boolean> {
  const since = setup.model.requests.length;
  const asked = worker.ask("three [[hold once]]", "ask-3");
  await worker.told("three [[hold once]]", since);
  const { run } = await worker.until("turning", (each) => each.run !== null);
  setup.home.killRun(run?.id ?? "");
  const { code, stdout, stderr } = await asked;
  const shown = await untilMail(setup, "ask-3", ["answered", "dead"]);
  assert.ok(timesReached(shown, "answered") <= 1);
  if (shown.message.state === "answered") {
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^turns=/);
    return true;
  }
  assert.equal(code, 5);
  assert.match(stderr, /killed after it had begun/);
  assert.equal(worker.timesAsked("three [[hold once]]"), 1, "it was not said again");
  return false;
}
