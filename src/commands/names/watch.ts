import { setTimeout as sleep } from "node:timers/promises";
import { connectToDaemon, type Client } from "../../client/connect.ts";
import { WATCH_POLL_MS, WATCH_SETTLE_MS } from "../../limits/index.ts";
import type { CallParams } from "../../protocol/calls/index.ts";
import { isPerdureError } from "../../protocol/errors.ts";
import type { WorkerSummary } from "../../protocol/records/worker.ts";
import { attentionItems, attentionText } from "../shared/attention-list.ts";
import { createOutput, isTerminal, type Output } from "../shared/output.ts";
import { AltScreen } from "../shared/alt-screen.ts";
import { byName, workerTable, type WorkerTableOptions } from "../shared/worker-table.ts";

type ListParams = CallParams<"ls">;
type Show = (workers: readonly WorkerSummary[], problem?: string) => void;

/** Runs `ls --watch` until it is interrupted: repainted in place for a person, one line per change for a program. */
export async function watchWorkers(params: ListParams, options: WorkerTableOptions, out: Output): Promise<void> {
  if (out.json || !isTerminal(1)) return watch(params, printChanges());
  const screen = new AltScreen();
  try {
    await watch(params, (workers, problem) =>
      screen.show(() => frame(workers, params, options, out, problem), titleOf(workers)),
    );
  } finally {
    screen.leave();
  }
}

/** Says in the title, which is seen when the window is not, how many workers need somebody. */
function titleOf(workers: readonly WorkerSummary[]): string {
  const names = attentionItems(workers).map(({ name }) => name);
  return names.length === 0
    ? "perdure"
    : `◆ ${names.length} need${names.length === 1 ? "s" : ""} you: ${names.join(" ")}`;
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
  { all, here }: ListParams,
  options: WorkerTableOptions,
  { paint, columns: width }: Output,
  problem = "",
): string {
  // The terminal's last column stays free: clearing the rest of a full line would take its last character.
  const columns = width - 1;
  const where = all ? "all projects" : (workers[0]?.project ?? here.base);
  const count = `${workers.length} worker${workers.length === 1 ? "" : "s"}`;
  return [
    `${paint.bold(where)}  ${paint.dim(`${count}, Ctrl-C ends`)}`,
    workerTable(workers.toSorted(byName), paint, { ...options, columns }) ?? paint.dim("No workers here yet."),
    attentionText(attentionItems(workers, all), paint, columns),
    problem && paint.yellow(problem),
  ]
    .filter(Boolean)
    .join("\n\n");
}

/** Lists the workers after every event, and periodically besides, because an agent that becomes busy or idle is no event. */
async function watch(params: ListParams, show: Show): Promise<never> {
  let workers: readonly WorkerSummary[] = [];
  let client = await connectToDaemon();
  for (;;) {
    try {
      await follow(client, params, (current) => show((workers = current)));
    } catch (error) {
      if (!isPerdureError(error) || error.code !== "unavailable") throw error;
    } finally {
      client.close();
    }
    client = await reconnect(() => show(workers, "The daemon has exited. The next command starts it again."));
  }
}

async function follow(client: Client, params: ListParams, show: Show): Promise<never> {
  let wake: () => void = () => undefined;
  const events = { here: params.here, all: params.all, target: null, after: null, limit: 1, follow: true };
  // An error of the stream is not lost: the next listing throws it as well.
  void client.stream("events", events, () => wake()).catch(() => wake());
  for (;;) {
    const changed = new Promise<void>((resolve) => (wake = resolve));
    show((await client.collect("ls", params)).items);
    const timer = new AbortController();
    await Promise.race([changed, sleep(WATCH_POLL_MS, null, { signal: timer.signal }).catch(() => null)]);
    timer.abort();
    await sleep(WATCH_SETTLE_MS);
  }
}

/** Waits for a daemon without starting one: watching must not undo `perdure daemon stop`. */
async function reconnect(onUnavailable: () => void): Promise<Client> {
  for (;;) {
    const client = await connectToDaemon({ autostart: false }).catch((error: unknown) => {
      if (isPerdureError(error) && error.code === "unavailable") return null;
      throw error;
    });
    if (client) return client;
    onUnavailable();
    await sleep(WATCH_POLL_MS);
  }
}
