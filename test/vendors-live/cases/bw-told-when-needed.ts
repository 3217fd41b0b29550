import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { EventRecord } from "../../../src/protocol/records/admin.ts";
import type { PaneRecord, UpItem, UpResult } from "../../../src/protocol/records/fleet.ts";
import type { NoticeRecord } from "../../../src/protocol/records/needs.ts";
import { Pane, Tmux, until } from "../../terminal/tmux.ts";
import type { Case } from "../case.ts";
import { writeFleet } from "../fleet-file.ts";
import { Terminal } from "../harness/terminal.ts";
import { answerQuestion } from "../question.ts";
import type { LiveSetup } from "../setup.ts";

/** Between the question on the screen and the program of the user's that is told of it, with `after = "0s"`. */
const TOLD_WITHIN_MS = 2_000;

interface Told extends NoticeRecord {
  atMs: number;
}

export const toldWhenNeeded: Case = {
  letter: "bw",
  title: "a question is told within two seconds, but not in the pane that somebody looks at; so is that it went on",
  modes: ["tui"],
  elsewhere: "without a terminal nobody is asked",
  core: true,
  unhurried: true,
  against: ({ asking }) => (asking === null ? "it asks nobody" : null),
  async run(setup) {
    const { asking } = setup.traits;
    if (asking === null) return;
    asking.configure?.(setup.home.dir);
    configure(setup);
    writeFleet(setup, setup.home.project, ["seen", "unseen"], null, asking.args);
    const first = await setup.home.json<UpResult & { workers: UpItem[] }>(["up", "--yes"]);
    assert.deepEqual([first.started, first.refused], [2, 0], JSON.stringify(first.workers));
    const outer = await setup.terminal(setup.inTerminal(["attach", "seen"], {}));
    await outer.until("the line of windows", (screen) => /1:seen\* 2:unseen/.test(screen));
    const [seen, unseen] = [await inPane(setup, "seen"), await inPane(setup, "unseen")];

    await asks(seen, asking);
    await setup.worker("seen").until("asks", ({ state }) => state === "blocked");
    await sleep(TOLD_WITHIN_MS);
    assert.deepEqual(told(setup), [], "nobody is told of what they look at");

    const askedAtMs = await asks(unseen, asking);
    const [notice] = await until("the notice", () => (told(setup).length > 0 ? told(setup) : null));
    await outer.until("its mark", (screen) => screen.includes("2:unseen◆"));
    assert.ok(Date.now() - askedAtMs < TOLD_WITHIN_MS, `its mark, after ${Date.now() - askedAtMs} ms`);
    const { atMs = 0, event, address, state } = notice ?? {};
    assert.deepEqual([event, address, state], ["needs-you", "api/unseen", "blocked"]);
    assert.ok(atMs - askedAtMs < TOLD_WITHIN_MS, `told after ${atMs - askedAtMs} ms`);
    setup.notes.push(`told ${atMs - askedAtMs} ms after its question was on the screen`);
    const sent = await until("the bell", async () => (await sentBy(setup)) ?? null);
    assert.equal(sent, "bell command");
    assert.ok(await outer.rang(), "the attached terminal rang");

    await answerQuestion(unseen, asking);
    const wentOn = await until("that it went on", () => told(setup).find((each) => each.event === "went-on") ?? null);
    assert.deepEqual([wentOn.address, wentOn.reason], ["api/unseen", null]);
    await unseen.ready();
    assert.ok(existsSync(join(setup.home.project, "it")), "the tool ran when it was allowed");
    assert.equal(told(setup).length, 2, JSON.stringify(told(setup)));
    await setup.home.json(["down", "--kill-after", "1"]);
  },
};

function configure({ home }: LiveSetup): void {
  const program = join(home.dir, "told");
  const script = `#!/bin/sh\n{ date +%s%3N; cat; } | paste -s >> "${program}.log"\n`;
  writeFileSync(program, script, { mode: 0o700 });
  const file = join(home.dir, ".config/perdure/config.toml");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `[notify]\ncommand = [${JSON.stringify(program)}]\nafter = "0s"\n`);
}

function told({ home }: LiveSetup): Told[] {
  const file = join(home.dir, "told.log");
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
  return lines.map((line) => {
    const [at = "", json = ""] = line.split("\t");
    return { ...(JSON.parse(json) as NoticeRecord), atMs: Number(at) };
  });
}

async function inPane(setup: LiveSetup, worker: string): Promise<Terminal> {
  const { socket, pane } = await setup.home.json<PaneRecord>(["attach", worker]);
  const tmux = Tmux.at(setup.home, socket);
  return Terminal.over(tmux, new Pane(tmux, pane), setup.vendor);
}

/** Has the agent ask for permission; the time at which its question was seen. */
async function asks(terminal: Terminal, { call, question }: { call: string; question: RegExp }): Promise<number> {
  await terminal.ready();
  await terminal.prompt(`go ${call}`);
  await terminal.until("the question", (screen) => question.test(screen));
  return Date.now();
}

/** The channels of the first notice, once it is recorded. */
async function sentBy(setup: LiveSetup): Promise<string | undefined> {
  const { stdout } = await setup.perdure(["events", "--json", "--limit", "1000"]);
  const events = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as EventRecord);
  return events.find(({ type }) => type === "notice.sent")?.data.by as string | undefined;
}
