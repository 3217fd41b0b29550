import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { EventRecord } from "../../../src/protocol/records/admin.ts";
import type { WorkerSummary } from "../../../src/protocol/records/worker.ts";
import { adapterOf } from "../../../src/vendors/index.ts";
import { dialogOn } from "../../../src/vendors/shared/screen.ts";
import { until } from "../../terminal/tmux.ts";
import type { Terminal } from "../harness/terminal.ts";
import type { Case } from "../case.ts";
import { writeFleet } from "../fleet-file.ts";
import type { LiveSetup } from "../setup.ts";
import type { Asking } from "../traits.ts";

const ANSWERED_MS = 1_000;

export const attention: Case = {
  letter: "y",
  title: "a question to its user shows as blocked, until it is answered",
  modes: ["tui"],
  elsewhere: "without a terminal nobody is asked",
  core: true,
  unhurried: true,
  against: ({ asking }) => (asking === null ? "it asks nobody" : null),
  async run(setup) {
    const { asking } = setup.traits;
    if (asking === null) return;
    await seesDialog(setup);
    const { name, interactive } = setup.vendor;
    asking.configure?.(setup.home.dir);
    const command = [name, ...interactive.before, ...asking.args, ...setup.traits.interactive];
    const terminal = await setup.terminal(setup.inTerminal(["run", "w", "--", ...command], {}));
    await terminal.ready();
    await terminal.prompt(`go ${asking.call}`);
    await terminal.until("the question", (screen) => asking.question.test(screen));
    await titled(setup, terminal, "blocked");
    if (asking.tells) await setup.worker("w").until("asks", isAsking);

    await answer(terminal, asking);
    await terminal.ready();
    await titled(setup, terminal, "idle");
    if (!asking.tells) return;
    await setup.worker("w").until("goes on", ({ state, attention: needs }) => state === "idle" && needs === null);
    const [asked, answered, ...more] = await attentionEvents(setup);
    assert.deepEqual(asked, { activity: "blocked", reason: "permission" });
    assert.equal(answered?.reason, null);
    assert.deepEqual(more, []);
  },
};

function isAsking({ state, attention: needs }: { state: string; attention: string | null }): boolean {
  return state === "blocked" && needs === "asks for permission";
}

/** A key that comes with the question is not taken for an answer: it is pressed again while the question is there. */
async function answer(terminal: Terminal, { question, yes }: Asking): Promise<void> {
  for (let tries = 10; question.test(await terminal.screen()); tries--) {
    if (tries === 0) throw new Error(`the question stays\n${await terminal.screen()}`);
    await terminal.press(yes);
    await sleep(ANSWERED_MS);
  }
}

/** In a folder it does not know yet it asks before it tells anybody anything. */
async function seesDialog(setup: LiveSetup): Promise<void> {
  const { distrusts } = setup.traits.asking ?? {};
  if (!distrusts) return;
  distrusts.configure?.(setup.home.dir);
  const { name, interactive } = setup.vendor;
  const command = [name, ...interactive.before, ...setup.traits.interactive];
  const terminal = await setup.terminal(["env", "-C", setup.home.dir, ...command]);
  const dialogs = adapterOf(name)?.screen?.dialogs;
  await terminal.until("a dialog about trust", (screen) => dialogOn(screen, dialogs)?.reason === "trust");
  await terminal.kill();
  await fleetSeesDialog(setup);
}

/** In a pane of ours the dialog is seen by whoever asks perdure, and nobody answers it but a person. */
async function fleetSeesDialog(setup: LiveSetup): Promise<void> {
  const cwd = join(setup.home.dir, "strange");
  mkdirSync(cwd);
  writeFleet(setup, cwd, ["w"], null);
  await setup.home.json(["up", "--yes"], { cwd });
  let seen = "";
  const asks = async (): Promise<true | null> => {
    const { workers } = await setup.home.json<{ workers: WorkerSummary[] }>(["ls"], { cwd });
    seen = JSON.stringify(workers);
    return workers.some(({ state, attention: needs }) => state === "blocked" && needs?.includes("trust")) ? true : null;
  };
  await until("the dialog about trust in ls", asks, () => Promise.resolve(seen));
  await setup.home.json(["down", "--kill-after", "1"], { cwd });
}

/** Waits until the terminal's title shows the activity, for a program that tells it by its title. */
async function titled(setup: LiveSetup, terminal: Terminal, activity: string): Promise<void> {
  const adapter = adapterOf(setup.vendor.name);
  const read = adapter?.screen?.title?.bind(adapter);
  if (!read) return;
  let title = "";
  const shows = async (): Promise<true | null> => {
    title = await terminal.title();
    return read(title)?.activity === activity ? true : null;
  };
  await until(`${activity} in the title`, shows, () => Promise.resolve(title));
}

async function attentionEvents(setup: LiveSetup): Promise<{ activity: string; reason: string | null }[]> {
  const { stdout } = await setup.perdure(["events", "--json"]);
  const events = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as EventRecord);
  return events
    .filter(({ type }) => type === "worker.attention")
    .map(({ data }) => data as { activity: string; reason: string | null });
}
