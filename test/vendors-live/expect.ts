import assert from "node:assert/strict";
import type { History, RunRecord } from "../../src/protocol/records/run.ts";
import type { ModelRequest } from "./model/index.ts";
import { until } from "../terminal/tmux.ts";
import type { LiveSetup } from "./setup.ts";
import type { Refusal, Worker } from "./worker.ts";

/**
 * The model was told these turns and no others, by the conversation perdure says the worker is in; and perdure has proof
 * of that. The conversation.
 */
export async function expectTold(
  setup: LiveSetup,
  worker: Worker,
  request: ModelRequest,
  turns: readonly string[],
): Promise<string> {
  assert.deepEqual([...request.turns], [...turns], `what ${worker.name} told the model`);
  return expectProved(setup, worker, request);
}

/** The session in the vendor's own header is the one perdure reports, with proof. */
export async function expectProved(setup: LiveSetup, worker: Worker, request: ModelRequest): Promise<string> {
  const asking = setup.sessionOf(request);
  let seen: History | undefined;
  const history = await until(
    `proof that ${worker.name} is where it should be`,
    async () => {
      seen = await worker.history();
      const { id, proved } = entryOf(seen);
      // A rotation may be on its way to perdure while the model is asked already.
      return proved === "pending" || (proved && asking !== null && id !== asking) ? null : seen;
    },
    () => Promise.resolve(`asked by ${asking}, and perdure's: ${JSON.stringify(seen?.runs[0]?.sessions)}`),
  );
  const { id, proved, evidence } = entryOf(history);
  assert.equal(proved, true, `proof of the last run: ${evidence}`);
  assert.ok(evidence, "evidence");
  const bound = history.sessions.filter(({ current }) => current).map((session) => session.id);
  assert.deepEqual(bound, [id], "the conversation of the last run is the one the next will resume");
  if (asking !== null) assert.equal(asking, id, `the session ${worker.name} told the model, and perdure's`);
  return id;
}

/** The conversation the newest run is in. */
export function entryOf({ address, runs: [run] }: History): RunRecord["sessions"][number] {
  const entry = run?.sessions.at(-1);
  assert.ok(entry, `the last run of ${address} is in a conversation: ${JSON.stringify(run)}`);
  return entry;
}

/** Refused, and nothing happened: the model was not asked, no conversation was begun, the recorded one stays. */
export async function expectRefused(
  setup: LiveSetup,
  worker: Worker,
  { code, says }: { code: number; says: readonly string[] },
): Promise<Refusal> {
  const before = await trace(setup, worker);
  const refusal = await worker.refused();
  assert.equal(refusal.code, code, refusal.text);
  for (const wanted of says) assert.ok(refusal.text.includes(wanted), `${wanted} in: ${refusal.text}`);
  assert.deepEqual(await trace(setup, worker), before, "a refused start leaves everything as it was");
  return refusal;
}

interface Trace {
  asked: number;
  conversations: string[];
  sessions: { id: string; current: boolean }[];
  runs: string[];
  generation: number;
}

async function trace(setup: LiveSetup, worker: Worker): Promise<Trace> {
  const { sessions, runs } = await worker.history();
  return {
    asked: setup.turnRequests().length,
    conversations: await setup.conversations(),
    sessions: sessions.map(({ id, current }) => ({ id, current })),
    runs: runs.map(({ id }) => id),
    generation: (await worker.detail()).generation,
  };
}
