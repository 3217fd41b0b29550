import assert from "node:assert/strict";
import { until } from "../../terminal/tmux.ts";
import type { MessageRecord } from "../../../src/protocol/records/mail.ts";
import type { Case } from "../case.ts";
import { adapterOf } from "../../../src/vendors/index.ts";
import { showMail, timesMarkedAgain, timesReached, timesTold, untilMail } from "../mail.ts";
import type { ModelRequest } from "../model/index.ts";
import type { LiveSetup } from "../setup.ts";
import { Worker } from "../worker.ts";

export const agentsTalk: Case = {
  letter: "bc",
  title:
    "two agents of different vendors ask and answer each other by tools, also over the death of one, of both, and of the daemon",
  modes: ["headless", "tui"],
  core: true,
  // Two programs and six starts; in a terminal, idle ones also take their time to be woken.
  long: true,
  unhurried: "tui",
  async run(setup) {
    const partner = setup.partner();
    const one = { setup, worker: setup.worker("one") };
    const other = { setup: partner, worker: partner.worker("other") };
    for (const { worker } of [one, other]) await worker.say("hello");

    await exchange(one, other, "safe", async () => undefined);
    await exchange(other, one, "done", async () => undefined);
    await exchange(one, other, "merged", async () => {
      await other.worker.hold("busy");
      await other.worker.kill({ andDaemon: true });
    });
    await exchangeOverDeath(other, one, "shipped");
  },
};

/** The time that a program may take from its start to its first request, on a busy machine. */
const START_MS_MAX = 120_000;

interface Side {
  setup: LiveSetup;
  worker: Worker;
}

/** One asks, something happens in between, the other answers: the reply is the tool's result, in the same turn. */
async function exchange(asker: Side, answerer: Side, subject: string, between: () => Promise<void>): Promise<void> {
  const { setup, worker } = asker;
  const asking = worker.say(promptToAsk(asker, answerer, subject));
  const question = await Promise.race([
    questionTo(setup, answerer.worker.name, subject),
    asking.then(() => assert.fail("the turn was over before the question was answered")),
  ]);
  assert.equal(question.from, `api/${worker.name}`, "the sender is the one whose run it is");
  // What is typed while mail begins a turn may come before the mail or behind it.
  if (wakes(answerer.setup)) await untilMail(setup, question.id, ["read"]);
  await between();
  const text = `yes, it is ${subject}`;
  await answerer.worker.say(promptToReply(answerer, text));
  await asking;
  const told = setup.model.requests.filter(({ results }) => results.some((result) => result.includes(text)));
  assert.ok(told.length > 0, `the reply is the tool's result: ${JSON.stringify(setup.model.requests.at(-1)?.results)}`);
  assert.ok(
    told.every(({ turns }) => turns.at(-1)?.includes("please ask")),
    "in the same turn",
  );
  const reply = await replyTo(setup, question.id);
  const shown = await untilMail(setup, reply.id, ["read"]);
  assert.equal(timesReached(shown, "offered"), 1, `the reply came once: ${JSON.stringify(shown.steps)}`);
}

/**
 * One asks while the other is busy, and both are killed, with the daemon, before anybody was told anything. The question waits for the
 * next run of the one, and its reply for the next run of the other: the tool that would have returned it died with the asker.
 */
async function exchangeOverDeath(asker: Side, answerer: Side, subject: string): Promise<void> {
  const { setup } = asker;
  // Where a turn that was killed stays said, the model is asked it once more, and answers.
  await answerer.worker.begin("busy [[hold once]]");
  await asker.worker.begin(promptToAsk(asker, answerer, subject));
  const question = await questionTo(setup, answerer.worker.name, subject);
  await Worker.killTogether([asker.worker, answerer.worker], { andDaemon: true });

  const text = `yes, it is ${subject}`;
  await isToldOnce(answerer, promptToReply(answerer, text), question);
  const reply = await replyTo(setup, question.id);
  assert.equal((await showMail(setup, reply.id)).message.state, "queued", "the reply waits for the asker's next run");
  await isToldOnce(asker, "go on", reply);
}

/** Starts the worker again and says something: it is told the message once, or again where an earlier run may have seen it. */
async function isToldOnce({ setup, worker }: Side, said: string, { id, body }: MessageRecord): Promise<void> {
  if (wakes(setup)) {
    await worker.open();
    await untilMail(setup, id, ["read"]);
  }
  const request: ModelRequest = await worker.say(said);
  const shown = await untilMail(setup, id, ["injected", "read", "answered"]);
  const steps = JSON.stringify(shown.steps);
  // One that answers at once has answered before anybody saw the question in its conversation.
  const seen = timesReached(shown, "injected") || timesReached(shown, "answered");
  assert.equal(seen, 1, `${worker.name} got ${body} once: ${steps}`);
  assert.equal(
    timesTold(request, body) - timesMarkedAgain(request, id),
    1,
    `${body}, told to ${worker.name}: ${steps}`,
  );
  assert.ok(timesMarkedAgain(request, id) < timesReached(shown, "offered"), `marked as it was offered: ${steps}`);
}

function promptToAsk({ setup }: Side, answerer: Side, subject: string): string {
  return `please ask ${setup.callTool("ask", { to: answerer.worker.name, text: `is it ${subject}` })}`;
}

function promptToReply({ setup }: Side, text: string): string {
  return `please answer ${setup.callTool("reply", { text })}`;
}

/** The reply to a question, which was answered once. */
async function replyTo(setup: LiveSetup, id: string): Promise<MessageRecord> {
  const asked = await showMail(setup, id);
  assert.equal(asked.message.state, "answered");
  assert.equal(timesReached(asked, "answered"), 1, "answered once");
  assert.ok(asked.reply);
  return asked.reply;
}

/** Tells whether mail begins a turn by itself. */
function wakes({ mode, vendor }: LiveSetup): boolean {
  return mode === "tui" && adapterOf(vendor.name)?.delivery?.wake !== undefined;
}

/** Waits for the question, wherever it is on its way. */
async function questionTo(setup: LiveSetup, name: string, subject: string): Promise<MessageRecord> {
  // Without a terminal the asker is only starting, which takes some programs half a minute.
  await setup.model.until(({ auxiliary, turns }) => !auxiliary && turns.at(-1)?.includes(`is it ${subject}`) === true, {
    timeoutMs: START_MS_MAX,
  });
  return until(`the question about ${subject}`, async () => {
    const { messages } = await setup.home.json<{ messages: MessageRecord[] }>(["inbox", name, "--all"]);
    return messages.find(({ body }) => body.includes(subject)) ?? null;
  });
}
