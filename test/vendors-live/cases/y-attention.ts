import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { EventRecord } from "../../../src/protocol/records/admin.ts";
import type { WorkerSummary } from "../../../src/protocol/records/worker.ts";
import { adapterOf } from "../../../src/vendors/index.ts";
import { dialogOn } from "../../../src/vendors/shared/screen.ts";
import { until } from "../../terminal/tmux.ts";
import type { Terminal } from "../harness/terminal.ts";
import type { Case } from "../case.ts";
import { writeFleet } from "../fleet-file.ts";
import { answerQuestion } from "../question.ts";
import type { LiveSetup } from "../setup.ts";

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

    await answerQuestion(terminal, asking);
    await terminal.ready();
    await titled(setup, terminal, "idle");
    if (!asking.tells) return;
    await setup.worker("w").until("goes on", ({ state, attention: needs }) => state === "idle" && needs === null);
    const [asked, answered, ...more] = await eventsOf(setup, "worker.attention");
    assert.deepEqual(asked, { activity: "blocked", reason: "permission" });
    assert.equal(answered?.reason, null);
    assert.deepEqual(more, []);
    assertTurns((await eventsOf(setup, "worker.activity")).map(({ activity }) => activity));
  },
};

/** The turn is in the events from its question to its end, and what stays the same is told once. */
function assertTurns(turns: readonly string[]): void {
  assert.ok(turns.includes("blocked"), turns.join(" "));
  assert.equal(turns.at(-1), "idle", turns.join(" "));
  for (const [at, turn] of turns.entries()) assert.notEqual(turn, turns[at + 1], turns.join(" "));
}

function isAsking({ state, attention: needs }: { state: string; attention: string | null }): boolean {
  return state === "blocked" && needs === "asks for permission";
}

/** In a folder it does not know yet it asks before it tells anybody anything. */
async function seesDialog(setup: LiveSetup): Promise<void> {
  const { distrusts } = setup.traits.asking ?? {};
  if (!distrusts) return;
  const folder = join(setup.home.dir, "strange");
  mkdirSync(folder);
  distrusts.configure?.(setup.home.dir, folder);
  const { name, interactive } = setup.vendor;
  const command = [name, ...interactive.before, ...setup.traits.interactive];
  const terminal = await setup.terminal(["env", "-C", folder, ...command]);
  const dialogs = adapterOf(name)?.screen?.dialogs;
  await terminal.until("a dialog about trust", (screen) => dialogOn(screen, dialogs)?.reason === "trust");
  await terminal.kill();
  await fleetSeesDialog(setup, folder);
}

/** In a pane of ours the dialog is seen by whoever asks perdure, and nobody answers it but a person. */
async function fleetSeesDialog(setup: LiveSetup, cwd: string): Promise<void> {
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

async function eventsOf(setup: LiveSetup, wanted: string): Promise<{ activity: string; reason: string | null }[]> {
  const { stdout } = await setup.perdure(["events", "--json", "--limit", "1000"]);
  const events = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as EventRecord);
  return events
    .filter(({ type }) => type === wanted)
    .map(({ data }) => data as { activity: string; reason: string | null });
}
