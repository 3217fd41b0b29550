import assert from "node:assert/strict";
import { existsSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { putInFront, type Trick } from "../support/front-program.ts";
import { until } from "../terminal/tmux.ts";
import { headlessCommand, interactiveCommand, runIn } from "./harness/commands.ts";
import { binFolder } from "./harness/pins.ts";
import { Ended, type Terminal } from "./harness/terminal.ts";
import type { ModelRequest } from "./model/index.ts";
import type { LiveSetup } from "./setup.ts";
import type { CallOptions, Worker } from "./worker.ts";

/** The outcome of a start behind a program in front: perdure's verdict, and the model's knowledge of it. */
export interface FrontOutcome {
  trick: Trick;
  /** The turns that the model was told; null when it was not asked. */
  told: readonly string[] | null;
  proved: string;
  evidence: string | null;
}

/** A stranger's conversation in the folder, which perdure knows nothing of. */
export interface Stranger {
  id: string;
  file: string | null;
}

const OURS = "mine";
/** A prompt is asked within a second or two, unless its Enter was lost. */
const ENTER_AGAIN_MS = 5000;
const ENTERS = 6;

/** A worker with one turn in its conversation, and a stranger's newer conversation beside it. */
export async function withStranger(setup: LiveSetup): Promise<{ mine: string; stranger: Stranger }> {
  const before = await setup.conversations();
  const byHand = async (): Promise<Stranger> => {
    await sayByHand(setup, "strange");
    const found = (await setup.conversations()).find((each) => !before.includes(each)) ?? "";
    if (setup.traits.database !== null) return { id: found, file: null };
    const id = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;
    return { id: id.exec(found)?.[0] ?? id.exec(readFileSync(found, "utf8"))?.[0] ?? "", file: found };
  };
  const worker = setup.worker("w", {}, "headless");
  await worker.say(OURS);
  before.push(...(await setup.conversations()));
  return { mine: await worker.session(), stranger: await byHand() };
}

/** A conversation held without a terminal is in no list of recent conversations in one, with some vendors, and the other way round. */
async function sayByHand(setup: LiveSetup, text: string): Promise<void> {
  const { vendor, home, model, mode } = setup;
  if (mode === "headless") {
    const { code, stderr } = await runIn(home, headlessCommand(vendor, [], text));
    assert.equal(code, 0, stderr);
    return;
  }
  const terminal = await setup.terminal(interactiveCommand(vendor, []));
  await terminal.prompt(text);
  const { turns } = await model.until((request) => !request.auxiliary && request.turns.at(-1) === text);
  await terminal.until("the answer", (screen) => screen.includes(`turns=${turns.length} first=${text}`));
  await terminal.ready();
  await until(`${text} on disk`, () => (home.hasWritten(`turns=${turns.length} first=${text}`) ? true : null));
  await terminal.kill();
}

/** Starts the worker through a program in front of the vendor's, says something if it can, and lets it end. */
export async function startBehindFront(
  setup: LiveSetup,
  { mine, stranger }: { mine: string; stranger: Stranger },
  trick: Trick,
  name = "w",
): Promise<FrontOutcome> {
  const { vendor, traits, home } = setup;
  const { newest } = traits.choosing;
  const facts = {
    program: vendor.name,
    real: join(binFolder(vendor.name), vendor.name),
    newest,
    other: { ...stranger, words: traits.choosing.resume(stranger.id, stranger.file ?? "") },
    transcript: traits.database === null ? (setup.filesOf(mine)[0] ?? null) : null,
  };
  const PATH = putInFront(join(home.dir, "front"), facts, trick, home.env.PATH ?? "");
  const text = `after ${trick}`;
  const since = setup.model.requests.length;
  const how = { env: { PATH } };
  const worker = setup.worker(name, how);
  if (setup.mode === "headless") await setup.perdure(runWords(name, headlessCommand(vendor, [], text)), how);
  else await inTerminal(setup, worker, how, text);
  await worker.ended();
  // A run that is stopped in the wrong conversation takes the program in front with it, before that has put the file back.
  const away = `${facts.transcript}.away`;
  if (facts.transcript !== null && existsSync(away)) renameSync(away, facts.transcript);
  // The end is recorded a moment after it is seen, where the vendor's own program is asked.
  await setup.perdure(["drill", name]);
  const request = setup.model.requests
    .slice(since)
    .find(({ auxiliary, turns }) => !auxiliary && turns.at(-1)?.endsWith(text) === true);
  const { proved, evidence } = (await worker.history()).runs[0]?.sessions[0] ?? { proved: "none", evidence: null };
  return { trick, told: request?.turns ?? null, proved: String(proved), evidence };
}

/** Fails if a conversation was proved that was not open, or the worker was carried into another one. */
export async function expectNothingFalse(
  setup: LiveSetup,
  name: string,
  mine: string,
  seen: FrontOutcome,
  inItsOwn = seen.told?.[0] === OURS,
): Promise<void> {
  const { runs, sessions } = await setup.worker(name).history();
  const told = JSON.stringify({ seen, sessions: runs[0]?.sessions });
  assert.deepEqual(
    sessions.filter(({ current }) => current).map(({ id }) => id),
    [mine],
    `carried on: ${told}`,
  );
  assert.equal(runs[0]?.sessions.length, 1, `followed: ${told}`);
  if (!inItsOwn && seen.told !== null)
    assert.equal(seen.proved, "false", `in another conversation, and not marked: ${told}`);
  if (seen.told === null) assert.notEqual(seen.proved, "true", `proved, and nothing was said: ${told}`);
  if (inItsOwn) assert.equal(seen.proved, "true", `in its own, and not proved: ${told}`);
}

async function inTerminal(setup: LiveSetup, worker: Worker, how: CallOptions, text: string): Promise<void> {
  const { vendor, traits } = setup;
  const command = [vendor.name, ...vendor.interactive.before, ...traits.interactive];
  const terminal = await setup.terminal(setup.inTerminal(runWords(worker.name, command), how));
  try {
    const since = setup.model.requests.length;
    await terminal.prompt(text);
    const isIt = ({ index, auxiliary, turns }: ModelRequest): boolean =>
      index >= since && !auxiliary && turns.at(-1)?.endsWith(text) === true;
    await untilAsked(terminal, () => setup.model.requests.some(isIt));
    await until("a verdict", async () => {
      const { proved } = (await worker.history()).runs[0]?.sessions[0] ?? { proved: "pending" };
      return proved === "pending" ? null : proved;
    });
    // Some write down what was said a moment after their model was asked: a kill before that loses it, and the verdict says so.
    if (traits.database === null) await until(`${text} on disk`, () => (setup.home.hasWritten(text) ? true : null));
  } catch (error) {
    // Some show the line for input for a moment before they refuse and end.
    if (!(error instanceof Ended)) throw error;
  }
  await terminal.kill();
}

/**
 * Waits until the model is asked. Which conversation such a program opens is not known before, so nothing on the screen tells
 * when it is loaded; and an Enter that comes earlier is lost with some. As a person would, this presses it again.
 */
async function untilAsked(terminal: Terminal, asked: () => boolean): Promise<void> {
  for (let tries = 0; tries < ENTERS; tries++) {
    const late = Date.now() + ENTER_AGAIN_MS;
    await terminal.until("a question to the model", () => asked() || Date.now() > late);
    if (asked()) return;
    await terminal.press(["Enter"]);
  }
  throw new Error(`never asked\n${await terminal.screen()}`);
}

function runWords(name: string, command: readonly string[]): string[] {
  return ["run", name, "--", ...command];
}
