import { setTimeout as sleep } from "node:timers/promises";
import { connect, type Client } from "../../client/connect.ts";
import { WATCH_LOOK_MS, WATCH_SETTLE_MS } from "../../limits/index.ts";
import type { CallParams } from "../../protocol/calls/index.ts";
import { isPerdureError } from "../../protocol/errors.ts";
import type { WorkerSummary } from "../../protocol/records/worker.ts";
import { attentionItems, attentionText } from "../shared/attention-list.ts";
import { createOutput, isTerminal, type Output } from "../shared/output.ts";
import { AltScreen } from "../shared/alt-screen.ts";
import { byName, workerTable, type WorkerTableOptions } from "../shared/worker-table.ts";

type Where = CallParams<"ls">;
type Show = (workers: readonly WorkerSummary[], trouble?: string) => void;

/** `ls` that goes on until somebody ends it: painted in place for a person, a line at every change for a program. */
export async function watchWorkers(where: Where, form: WorkerTableOptions, out: Output): Promise<void> {
  if (out.json || !isTerminal(1)) return watch(where, printChanges());
  const screen = new AltScreen();
  try {
    await watch(where, (workers, trouble) => screen.show(() => frame(workers, where, form, out, trouble)));
  } finally {
    screen.leave();
  }
}

function printChanges(): Show {
  const out = createOutput(true, process.env);
  let last = "";
  return (workers) => {
    const now = JSON.stringify(workers);
    if (now !== last) out.item({ schemaVersion: 1, workers }, () => "");
    last = now;
  };
}

function frame(
  workers: readonly WorkerSummary[],
  { all, here }: Where,
  form: WorkerTableOptions,
  { paint, columns: width }: Output,
  trouble = "",
): string {
  // The terminal's last column stays free: clearing the rest of a full line would take its last character.
  const columns = width - 1;
  const where = all ? "all projects" : (workers[0]?.project ?? here.base);
  const count = `${workers.length} worker${workers.length === 1 ? "" : "s"}`;
  return [
    `${paint.bold(where)}  ${paint.dim(`${count}, Ctrl-C ends`)}`,
    workerTable(workers.toSorted(byName), paint, { ...form, columns }) ?? paint.dim("No workers here yet."),
    attentionText(attentionItems(workers, all), paint, columns),
    trouble && paint.yellow(trouble),
  ]
    .filter(Boolean)
    .join("\n\n");
}

/** Looks when something happened, and now and then besides: whether an agent is busy is no event. */
async function watch(where: Where, show: Show): Promise<never> {
  let workers: readonly WorkerSummary[] = [];
  let client = await connect();
  for (;;) {
    try {
      await follow(client, where, (seen) => show((workers = seen)));
    } catch (error) {
      if (!isPerdureError(error) || error.code !== "unavailable") throw error;
    } finally {
      client.close();
    }
    client = await reconnect(() => show(workers, "The daemon has left. The next command starts it again."));
  }
}

async function follow(client: Client, where: Where, show: Show): Promise<never> {
  let ring: () => void = () => undefined;
  const events = { here: where.here, all: where.all, target: null, after: null, limit: 1, follow: true };
  // A lost connection is told by the listing, too.
  void client.stream("events", events, () => ring()).catch(() => ring());
  for (;;) {
    const rung = new Promise<void>((resolve) => (ring = resolve));
    show((await client.collect("ls", where)).items);
    const late = new AbortController();
    await Promise.race([rung, sleep(WATCH_LOOK_MS, null, { signal: late.signal }).catch(() => null)]);
    late.abort();
    await sleep(WATCH_SETTLE_MS);
  }
}

/** Only looks: a daemon that somebody has stopped is not started again by whoever watches. */
async function reconnect(tell: () => void): Promise<Client> {
  for (;;) {
    const client = await connect({ autostart: false }).catch((error: unknown) => {
      if (isPerdureError(error) && error.code === "unavailable") return null;
      throw error;
    });
    if (client) return client;
    tell();
    await sleep(WATCH_LOOK_MS);
  }
}
