import { join } from "node:path";
import type { CallParams, CallResults } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import type { PaneRecord, ScreenRecord } from "../../protocol/records/fleet.ts";
import { startCommand } from "../../protocol/names.ts";
import { readIfThere } from "../../state/files.ts";
import { desire, keepingOf } from "../../store/fleet.ts";
import { runsOfWorker, type RunRow } from "../../store/runs.ts";
import { workerById, type WorkerRow } from "../../store/workers.ts";
import type { CallContext } from "./context.ts";
import type { House } from "../services.ts";
import { findWorker, type FoundWorker } from "../names/lookup.ts";
import { endRun } from "./down.ts";
import { SCREEN_FILE, wake } from "../fleet/screens.ts";
import { itemOf } from "./up.ts";

/** Stopped, and started again where it was: in its pane, in its conversation. */
export async function restartCall(
  params: CallParams<"restart">,
  { house }: CallContext,
): Promise<CallResults["restart"]> {
  const { project, worker } = findWorker(house, params.target);
  if (worker.keeping === null) throw notOfAFleet(worker);
  // Owed a start from now on: should this daemon die in between, the next one gives it.
  const keeping = { ...keepingOf(worker), after: worker.generation };
  await house.writer.write(() => desire(house.db, worker.id, keeping));
  await house.fleet.leave(worker.id);
  const run = house.fleet.liveRun(worker.id);
  if (run) await endRun(house, run, params);
  const environment = JSON.parse(worker.environment) as Record<string, string>;
  const again = { command: null, cwd: null, vendor: null, environment, fresh: params.fresh };
  const started = await house.fleet.bringUp(worker.id, again).catch(async (error: unknown) => {
    await house.fleet.refused(worker, error);
    throw error;
  });
  return itemOf(house, project, workerById(house.db, worker.id) ?? worker, {
    outcome: started ? "started" : "running",
    run: started?.run.id ?? null,
    session: started?.session ?? null,
  });
}

function notOfAFleet({ name }: WorkerRow): PerdureError {
  return new PerdureError("conflict", `${name} was not brought up, so there is no pane to start it in.`, {
    hint: `perdure up ${name}, or here: perdure run ${name}`,
    details: { notUp: true },
  });
}

export async function findPaneCall(params: CallParams<"findPane">, { house }: CallContext): Promise<PaneRecord> {
  const found = findWorker(house, params.target);
  const tmux = house.fleet.panes.ifThere();
  const pane = (await tmux?.panes())?.find(({ workerId }) => workerId === String(found.worker.id));
  if (!tmux || !pane) throw noPane(house, found);
  const { session, window, id } = pane;
  const run = house.fleet.liveRun(found.worker.id);
  if (run) await wake(house, house.fleet.panes, run);
  return {
    address: found.address,
    socket: house.paths.tmux,
    tmux: house.fleet.panes.program(),
    session,
    window,
    pane: id,
  };
}

export async function readScreenCall(
  params: CallParams<"readScreen">,
  { house }: CallContext,
): Promise<CallResults["readScreen"]> {
  const found = findWorker(house, params.target);
  const { address, worker } = found;
  const wanted = params.run === undefined ? null : runOf(house, found, params.run);
  if (wanted !== null && wanted.ended_ms !== null) return keptScreen(house, found, wanted, params.lines);
  const tmux = house.fleet.panes.ifThere();
  const own = (await tmux?.panes())?.filter(({ workerId }) => workerId === String(worker.id));
  const pane = own?.find(({ run }) => wanted === null || run === wanted.id);
  if (tmux && pane) return { address, text: await tmux.capture(pane.id, { lines: params.lines }), live: !pane.dead };
  const [last] = runsOfWorker(house.db, worker.id, 1);
  if (last === undefined || last.ended_ms === null) throw noPane(house, found);
  return keptScreen(house, found, last, params.lines);
}

function keptScreen(house: House, found: FoundWorker, { id }: RunRow, lines: number): ScreenRecord {
  const kept = readIfThere(join(house.watch.runDir(id), SCREEN_FILE));
  if (kept !== null) return { address: found.address, text: kept.split("\n").slice(-lines).join("\n"), live: false };
  const [last] = runsOfWorker(house.db, found.worker.id, 1);
  if (last?.id === id) throw noPane(house, found);
  throw new PerdureError("not-found", `Of run ${id} no screen is kept.`, {
    hint: `it was in no pane, or is too long ago; the others: perdure history ${found.worker.name}`,
  });
}

/** By its id, or by its number in the history. */
function runOf(house: House, { address, worker }: FoundWorker, wanted: string): RunRow {
  const runs = runsOfWorker(house.db, worker.id, worker.generation);
  const run = runs.find(({ id, generation }) => id === wanted || String(generation) === wanted);
  if (run) return run;
  throw new PerdureError("not-found", `${address} has no run ${JSON.stringify(wanted)} on record.`, {
    hint: `perdure history ${worker.name} lists them`,
  });
}

function noPane(house: House, { address, worker }: FoundWorker): PerdureError {
  const run = house.fleet.liveRun(worker.id);
  if (run && run.pane !== null) {
    const message = `${address} has lost its pane, and lives on (pid ${run.pid}).`;
    return new PerdureError("conflict", message, { hint: `perdure restart ${worker.name}` });
  }
  if (run) {
    return new PerdureError(
      "conflict",
      `${address} runs in a terminal of its own (pid ${run.pid}), not in a pane of ours.`,
      {
        hint: `look there, or: perdure takeover ${worker.name} && perdure up ${worker.name}`,
      },
    );
  }
  // One that never ran is the fleet file's.
  const hint = startCommand(worker.name, worker.keeping !== null || worker.command === null);
  return new PerdureError("not-found", `${address} has no pane: it is not up.`, { hint });
}
