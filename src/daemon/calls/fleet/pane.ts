import { join } from "node:path";
import type { CallParams, CallResults } from "../../../protocol/calls/index.ts";
import { PerdureError } from "../../../protocol/errors.ts";
import { hintOf, startVerb, verb } from "../../../protocol/hint.ts";
import type { PaneRecord, ScreenRecord } from "../../../protocol/records/fleet.ts";
import { RUN_FILE_BYTES_MAX } from "../../../limits/index.ts";
import { readForeign } from "../../../state/bounded-read.ts";
import { runsOfWorker, type Run } from "../../../store/runs.ts";
import { isTurnWorker } from "../../../store/workers.ts";
import { turningError } from "../../names/claim-refusals.ts";
import type { CallContext } from "../context.ts";
import type { Services } from "../../services.ts";
import { findWorker, type FoundWorker } from "../../names/lookup.ts";
import { turnLog } from "../../turns/turn-log.ts";
import { SCREEN_FILE, resumeIfSuspended } from "../../fleet/screens.ts";

export async function findPaneCall(params: CallParams<"findPane">, { services }: CallContext): Promise<PaneRecord> {
  const found = findWorker(services, params.target);
  const tmux = services.fleet.tmux.existingServer();
  const pane = (await tmux?.panes())?.find(({ workerId }) => workerId === String(found.worker.id));
  if (!tmux || !pane) throw noPaneError(services, found);
  const { session, window, id } = pane;
  // Whoever is about to look at a terminal wants their own keys as they are now.
  const problem = await services.fleet.tmux.readUserFile(tmux);
  const run = services.fleet.liveRun(found.worker.id);
  if (run) await resumeIfSuspended(services, services.fleet.tmux, run);
  return {
    address: found.address,
    socket: services.paths.tmux,
    tmux: services.fleet.tmux.program(),
    session,
    window,
    pane: id,
    ...(problem !== null && { problem }),
  };
}

/** Starts a sleeping worker in a pane, in its conversation; it sleeps again when its program ends. */
export async function openPaneCall(
  params: CallParams<"openPane">,
  { services }: CallContext,
): Promise<CallResults["openPane"]> {
  const found = findWorker(services, params.target);
  const { address, worker } = found;
  if (!isTurnWorker(worker)) throw noPaneError(services, found);
  const recorded = services.environments.require(worker);
  const input = { command: null, cwd: null, vendor: null, ...recorded, fresh: false };
  const started = await services.fleet.bringUp(worker.id, input);
  const run = started?.run ?? services.fleet.liveRun(worker.id);
  if (run?.turn === 1) throw turningError(services, address, run);
  return { address, run: run?.id ?? null };
}

export async function readScreenCall(
  params: CallParams<"readScreen">,
  { services }: CallContext,
): Promise<CallResults["readScreen"]> {
  const found = findWorker(services, params.target);
  const { address, worker } = found;
  const requested = params.run === undefined ? null : requireRun(services, found, params.run);
  const turn = turnScreen(services, found, requested, params.lines);
  if (turn !== null) return turn;
  if (requested !== null && requested.endedMs !== null) return savedScreen(services, found, requested, params.lines);
  const tmux = services.fleet.tmux.existingServer();
  const own = (await tmux?.panes())?.filter(({ workerId }) => workerId === String(worker.id));
  const pane = own?.find(({ run }) => requested === null || run === requested.id);
  if (tmux && pane) return { address, text: await tmux.capture(pane.id, { lines: params.lines }), live: !pane.dead };
  const [last] = runsOfWorker(services.db, worker.id, 1);
  if (last === undefined || last.endedMs === null) throw noPaneError(services, found);
  return savedScreen(services, found, last, params.lines);
}

/** Returns what a turn has shown: of the run that was asked for, or of the last one. */
function turnScreen(
  services: Services,
  { address, worker }: FoundWorker,
  requested: Run | null,
  lines: number,
): ScreenRecord | null {
  const run = requested ?? runsOfWorker(services.db, worker.id, 1)[0];
  const log = run === undefined ? null : turnLog(services, run);
  if (log === null || run === undefined) return null;
  return { address, text: log.text.split("\n").slice(-lines).join("\n"), live: log.live, turn: run.id };
}

function savedScreen(services: Services, found: FoundWorker, { id }: Run, lines: number): ScreenRecord {
  const saved = readForeign(join(services.runs.runDir(id), SCREEN_FILE), RUN_FILE_BYTES_MAX);
  if (saved !== null && "text" in saved) {
    return { address: found.address, text: saved.text.split("\n").slice(-lines).join("\n"), live: false };
  }
  const [last] = runsOfWorker(services.db, found.worker.id, 1);
  if (last?.id === id) throw noPaneError(services, found);
  throw new PerdureError("not-found", `No screen was saved for run ${id}.`, {
    hint: hintOf`it ran outside a pane, its terminal was killed with it, or it is too long ago; other runs: ${verb("history", found.worker.name)}`,
  });
}

/** Returns the run with this id, or with this number in the history. */
function requireRun(services: Services, { address, worker }: FoundWorker, idOrNumber: string): Run {
  const runs = runsOfWorker(services.db, worker.id, worker.lease.generation);
  const run = runs.find(({ id, generation }) => id === idOrNumber || String(generation) === idOrNumber);
  if (run) return run;
  throw new PerdureError("not-found", `${address} has no run ${JSON.stringify(idOrNumber)} on record.`, {
    hint: hintOf`${verb("history", worker.name)} lists them`,
  });
}

function noPaneError(services: Services, { address, worker }: FoundWorker): PerdureError {
  const run = services.fleet.liveRun(worker.id);
  if (run?.turn === 1) return turningError(services, address, run);
  if (run && run.pane !== null) {
    const message = `${address} has lost its pane, but still runs (pid ${run.pid}).`;
    return new PerdureError("conflict", message, { hint: verb("restart", worker.name) });
  }
  if (run) {
    return new PerdureError(
      "conflict",
      `${address} runs in a terminal of its own (pid ${run.pid}), not in a pane of perdure.`,
      {
        hint: hintOf`look there, or take it over: ${verb("takeover", worker.name)} && ${startVerb(worker.name, worker.fleet !== null)}`,
        details: { runsIn: run.pid },
      },
    );
  }
  if (isTurnWorker(worker)) {
    return new PerdureError("not-found", `${address} is asleep, and has no pane.`, {
      hint: verb("attach", worker.name),
      details: { asleep: true },
    });
  }
  // A worker that never ran is declared in the fleet file.
  const hint = startVerb(worker.name, worker.fleet !== null || worker.command === null);
  return new PerdureError("not-found", `${address} has no pane: it is not up.`, { hint });
}
