import assert from "node:assert/strict";
import { existsSync, globSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { MailStep, MessageRecord } from "../../src/protocol/records/mail.ts";
import { until } from "../terminal/tmux.ts";
import type { ModelRequest } from "./model/index.ts";
import { writeFleet } from "./fleet-file.ts";
import { PaneWorker } from "./pane-worker.ts";
import type { LiveSetup } from "./setup.ts";
import { TerminalWorker } from "./terminal-worker.ts";
import type { Traits } from "./traits.ts";
import type { Worker } from "./worker.ts";

export interface ShownMail {
  message: MessageRecord;
  steps: MailStep[];
  reply: MessageRecord | null;
}

/** A worker that mail can wake when it is idle: in a terminal of its user's, or in a pane where it takes that. */
export async function wakeableWorker(
  setup: LiveSetup,
  name: string,
  args: readonly string[] = [],
): Promise<TerminalWorker> {
  return setup.traits.wokenInPane ? paneWorker(setup, name, args) : new TerminalWorker(setup, name, { args });
}

/** A worker in a pane of perdure's own. */
export async function paneWorker(setup: LiveSetup, name: string, args: readonly string[] = []): Promise<PaneWorker> {
  writeFleet(setup, setup.home.project, [name], null, args);
  await setup.home.json(["up", "--yes"]);
  return new PaneWorker(setup, name, { args });
}

/** A worker in a pane that is woken by pastes alone. */
export async function pastedWorker(setup: LiveSetup, name: string): Promise<PaneWorker> {
  const { args = [], env = {}, configure } = setup.traits.closesWake ?? {};
  configure?.(setup.home.dir);
  Object.assign(setup.home.env, env);
  return paneWorker(setup, name, args);
}

/** Tells why nothing is pasted into a program of such traits; null if mail is. */
export function whyNotPasted({ wokenInPane, closesWake }: Traits): string | null {
  return wokenInPane || closesWake ? null : "it has a channel of its own";
}

/** Sends mail as the operator; returns its id. */
export async function sendMail(
  setup: LiveSetup,
  to: string,
  text: string,
  how: { cwd?: string } = {},
): Promise<string> {
  const { code, stdout, stderr } = await setup.perdure(["send", to, text, "--json"], how);
  assert.equal(code, 0, stderr);
  const { id } = JSON.parse(stdout) as { id: string };
  return id;
}

export async function showMail(setup: LiveSetup, id: string, how: { cwd?: string } = {}): Promise<ShownMail> {
  return setup.home.json<ShownMail>(["mail", id], how);
}

/** Waits until the message is in one of these states. */
export async function untilMail(setup: LiveSetup, id: string, states: readonly string[]): Promise<ShownMail> {
  let seen: ShownMail | undefined;
  return until(
    `mail ${id} ${states.join(" or ")}`,
    async () => {
      seen = await showMail(setup, id);
      return states.includes(seen.message.state) ? seen : null;
    },
    () => Promise.resolve(JSON.stringify(seen)),
  );
}

/** Waits until mail lies where the next hook of a run takes it, or waits in the program's own queue. */
export async function untilLaidOut(setup: LiveSetup, id: string): Promise<void> {
  await until("mail for a hook, or in a queue", async () => {
    if (globSync(`${setup.home.state}/runs/*/mail/session`).length > 0) return true;
    return (await showMail(setup, id)).steps.some(({ state }) => state === "injected") ? true : null;
  });
}

/**
 * Says something at which the model calls a tool, and returns while that goes on: until `open` is called. A turn that fails, or that is
 * over before, tells why there is no tool.
 */
export async function sayWithTool(
  setup: LiveSetup,
  worker: Worker,
  text: string,
): Promise<{ open: () => void; said: Promise<ModelRequest> }> {
  const gate = join(setup.home.project, "gate");
  const started = join(setup.home.project, "started");
  // Without a `!`: gemini takes one that is typed quickly for its shell mode, wherever it stands.
  const command = `touch '${started}'; until [ -e '${gate}' ]; do sleep 0.1; done; echo tool-is-done`;
  const since = setup.model.requests.length;
  const said = worker.say(`${text} ${setup.traits.shell.call(command)}`);
  const asked = (): string => JSON.stringify(setup.model.requests.slice(since).map(({ body }) => body)).slice(-4_000);
  const early = said.then(() => {
    throw new Error(`the turn was over before its tool began: ${asked()}`);
  });
  early.catch(() => undefined); // later it is over as it should be
  const runs = until(
    "the tool",
    () => (existsSync(started) ? true : null),
    () => Promise.resolve(asked()),
  );
  await Promise.race([runs, early]);
  return { open: () => writeFileSync(gate, ""), said };
}

/** Waits until a turn behind whose tool mail was told is over: with its own answer, or with that to the mail. */
export async function overBehind(setup: LiveSetup, said: Promise<ModelRequest>, id: string): Promise<void> {
  if (setup.mode === "headless" || !setup.traits.noHooks) {
    await said;
    return;
  }
  said.catch(() => undefined); // it waits for an answer that does not come
  await untilMail(setup, id, ["read"]);
}

/** Waits until mail is about to wake a run. */
export async function untilWoken(setup: LiveSetup): Promise<void> {
  await until("a wake", () => (globSync(`${setup.home.state}/runs/*/taken.wake.*/*`).length > 0 ? true : null));
}

/** Waits for a request, from the one with this index on, in which the model is told the text; what became of the mail tells why it was not. */
export async function untilTold(setup: LiveSetup, id: string, text: string, since: number): Promise<ModelRequest> {
  try {
    return await setup.model.until(
      (request) => request.index >= since && !request.auxiliary && timesTold(request, text) > 0,
    );
  } catch (cause) {
    const { stdout } = await setup.perdure(["events", "--json"]);
    const events = stdout.split("\n").filter((line) => line.includes("mail."));
    throw new Error(`never told: ${text}\n${JSON.stringify(await showMail(setup, id))}\n${events.join("\n")}`, {
      cause,
    });
  }
}

/** How often a text stands in what the model was told; what it said itself does not count, for it repeats what it was told. */
export function timesTold({ body }: ModelRequest, text: string): number {
  const told = JSON.stringify(body, (_key, value: unknown) => (isSaidByModel(value) ? null : value));
  return told.split(text).length - 1;
}

/** How often the model was told the message with the note that an earlier run may have seen it. */
export function timesMarkedAgain(request: ModelRequest, id: string): number {
  const told = JSON.stringify(request.body, (_key, value: unknown) => (isSaidByModel(value) ? null : value));
  const head = `Message ${id} from \\S+(?: \\(\\w+\\))?, [^ ,]+(?:, in answer to [^ ,]+)?, again: `;
  return [...told.matchAll(new RegExp(head, "g"))].length;
}

function isSaidByModel(value: unknown): boolean {
  const role = typeof value === "object" && value !== null && "role" in value ? value.role : null;
  return role === "assistant" || role === "model";
}

/** How often the message came to a state. */
export function timesReached({ steps }: ShownMail, state: string): number {
  return steps.filter((step) => step.state === state).length;
}
