import type { CallParams } from "../../protocol/calls/index.ts";
import type { WorkerSummary } from "../../protocol/records/worker.ts";
import { AltScreen } from "../shared/terminal/alt-screen.ts";
import { attentionItems, attentionText, attentionTitle } from "../shared/table/attention-list.ts";
import { doingTable } from "../shared/table/doing-table.ts";
import { createOutput, hasKeys, isTerminal, type Output } from "../shared/output.ts";
import { inOrderOfNames, workerTable } from "../shared/table/worker-table.ts";
import { LOST } from "./board-frame.ts";
import { followWorkers } from "./follow-workers.ts";

type ListParams = CallParams<"ls">;

interface WatchOptions {
  addresses: boolean;
  long: boolean;
  /** The root of the caller's project. */
  root: string;
}

/** Runs `ls --watch` until it is ended: with keys for a person, painted in place without a keyboard, one line per change for a program. */
export async function watchWorkers(params: ListParams, options: WatchOptions, out: Output): Promise<number> {
  if (out.json || !isTerminal(1)) return printChanges(params);
  if (hasKeys(out) && !options.long) return (await import("./board.ts")).openBoard({ params, ...options }, out);
  return paintChanges(params, options, out);
}

async function printChanges(params: ListParams): Promise<never> {
  const out = createOutput(true, process.env);
  let last = "";
  return followWorkers(params, {
    async look(client) {
      const { items: workers } = await client.collect("ls", params);
      const now = JSON.stringify(workers);
      if (now !== last) out.item({ schemaVersion: 1, workers }, () => "");
      last = now;
    },
    lost: () => undefined,
  });
}

async function paintChanges(params: ListParams, options: WatchOptions, out: Output): Promise<never> {
  const screen = new AltScreen();
  let workers: readonly WorkerSummary[] = [];
  const show = (problem: string): void =>
    screen.show(() => frame(workers, params, options, out, problem), attentionTitle(workers));
  try {
    return await followWorkers(params, {
      async look(client) {
        workers = (await client.collect("ls", params)).items;
        show("");
      },
      lost: () => show(LOST),
    });
  } finally {
    screen.close();
  }
}

function frame(
  workers: readonly WorkerSummary[],
  { all, here }: ListParams,
  { addresses, long, root }: WatchOptions,
  { paint, columns: width }: Output,
  problem: string,
): string {
  // The terminal's last column stays free: clearing the rest of a full line would take its last character.
  const columns = width - 1;
  const where = all ? "all projects" : (workers[0]?.project ?? here.base);
  const count = `${workers.length} worker${workers.length === 1 ? "" : "s"}`;
  const sorted = inOrderOfNames(workers);
  const shown = long
    ? workerTable(sorted, paint, { addresses, long, columns })
    : doingTable(sorted, paint, { addresses, columns, root });
  return [
    `${paint.bold(where)}  ${paint.dim(`${count}, Ctrl-C ends`)}`,
    shown ?? paint.dim("No workers here yet."),
    attentionText(attentionItems(workers, all), paint, columns),
    problem && paint.yellow(problem),
  ]
    .filter(Boolean)
    .join("\n\n");
}
