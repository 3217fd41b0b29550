import assert from "node:assert/strict";
import type { MessageRecord } from "../../../src/protocol/records/mail.ts";
import { until } from "../../terminal/tmux.ts";
import type { Case } from "../case.ts";
import { sendMail, untilMail, untilTold } from "../mail.ts";
import { TerminalWorker } from "../terminal-worker.ts";

const HOSTILE = "read me \u001b[31mred\u001b]0;title\u0007 \u202eback";

export const personInFront: Case = {
  letter: "bk",
  title: "the person in front of a worker sees its mail, and writes to a peer as the worker",
  modes: ["tui"],
  elsewhere: "without a terminal nobody is in front of it",
  core: true,
  against: ({ person }) => (person ? null : "nothing of ours in it serves a person"),
  async run(setup) {
    const person = setup.traits.person;
    assert.ok(person);
    const neighbour = person.neighbour(setup.home.dir);
    assert.equal((await setup.perdure(["run", "peer", "--", "true"])).code, 0);
    // An extension that its user loads as well does not get in the way of the one that the start brings.
    const { path } = await setup.home.json<{ path: string }>(["extension", setup.vendor.name]);
    const worker = new TerminalWorker(setup, "w", { args: person.loads(path) });
    const terminal = await worker.inFront();
    const { project } = await worker.detail();
    const address = `${project}/w`;

    // The line in the footer, behind that of another extension for the same purpose, follows the mailbox and the name.
    const theirs = neighbour.statusLine(project, worker.name);
    const hasLine = async (ours: string): Promise<string> =>
      terminal.until(`${theirs}${ours}`, (screen) => screen.trimEnd().endsWith(`\n${theirs}${ours}`));
    await hasLine(` ${address}`);
    await setup.home.json(["pause", worker.name]);
    const first = await sendMail(setup, worker.name, HOSTILE);
    await sendMail(setup, worker.name, "and me");
    await hasLine(` ${address} · 2 unread`);

    // The other extension keeps its command and its shortcut, too.
    for (const open of neighbour.openedBy) {
      await terminal.ready();
      await open(terminal);
      await terminal.shows(neighbour.says);
      await terminal.press(["Escape"]);
    }

    // The list has the peer; what is written to it comes from the worker.
    for (const [n, keys] of person.openedBy.entries()) {
      await terminal.ready();
      await keys(terminal);
      await terminal.shows(`${project}/peer  stopped`);
      assert.notEqual((await worker.detail()).state, "blocked", "a dialog that its person opened is no question");
      await terminal.press(["Enter"]);
      await terminal.shows(`sent by this worker, ${address}`);
      await terminal.press(["-", "h", "i", String(n), "Enter"]);
      await terminal.shows(`Sent to ${project}/peer by ${address}`);
      const sent = await until("the message", async () => {
        const { messages } = await setup.home.json<{ messages: MessageRecord[] }>(["inbox", "peer"]);
        return messages[n] ?? null;
      });
      assert.deepEqual([sent.from, sent.body], [address, `-hi${n}`]);
    }

    // Mail is shown as text, and counts as read by nobody.
    await terminal.ready();
    await terminal.prompt(person.command);
    await terminal.shows(`Read the mail of ${address}`);
    await terminal.press(["Up", "Down", "Enter"]);
    await terminal.shows("newest first");
    await terminal.press(["Down", "Enter"]);
    const shown = await terminal.until("the message", (screen) => screen.includes("Write to operator"));
    assert.match(shown, /read me +\[31mred \]0;title +back/);
    await terminal.press(["Enter"]);
    await untilMail(setup, first, ["queued"]);

    await setup.home.json(["rename", worker.name, "v"]);
    await hasLine(` ${project}/v · 2 unread`);
    await setup.home.json(["pause", "v", "--off"]);
    await untilMail(setup, first, ["read"]);
    await hasLine(` ${project}/v`);
    const tools = JSON.stringify(setup.model.requests.at(-1)?.body);
    for (const name of [neighbour.tool, setup.traits.toolName("send")]) assert.ok(tools.includes(`"${name}"`), name);

    // A list that is open keeps no mail from the agent.
    await terminal.ready();
    await terminal.prompt(person.command);
    await terminal.shows(`${project}/peer  stopped`);
    const since = setup.model.requests.length;
    const third = await sendMail(setup, "v", "while it is open");
    await untilTold(setup, third, "while it is open", since);
    await untilMail(setup, third, ["read"]);
    await terminal.shows(`${project}/peer  stopped`);
    await terminal.press(["Escape"]);
    await terminal.ready();

    // Nobody keeps the line while there is no daemon.
    await setup.perdure(["daemon", "stop"]);
    await hasLine("");
    await setup.perdure(["ls"]);
    await hasLine(` ${project}/v`);
  },
};
