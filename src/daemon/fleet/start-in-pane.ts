import type { LaunchOrder } from "../../protocol/records/launch.ts";
import type { PreparedLaunch } from "../../launch/prepare.ts";
import { windowPlaceOf } from "../../store/fleet.ts";
import { PENDING_PANE, runById, type Run } from "../../store/runs.ts";
import type { KeyedMutex } from "../../util/semaphore.ts";
import { assertCurrent } from "../permissions/actor.ts";
import type { LaunchServices } from "../launch/services.ts";
import {
  claimOwnStart,
  prepareOwnStart,
  releaseClaim,
  removeScript,
  setWrapper,
  type ReadyStart,
  type StartInput,
} from "../names/own-start.ts";
import { adoptPanes } from "./screens.ts";
import type { TmuxHandle } from "./tmux-handle.ts";

/** The objects that the starts of a fleet share, and the signal that this start may go. */
export interface StartContext {
  tmux: TmuxHandle;
  /** Lets one program per vendor at a time make a conversation. */
  minting: KeyedMutex;
  /** Resolves when the worker may start. */
  ready: () => Promise<void>;
}

export interface StartedRun {
  run: Run;
  session: LaunchOrder["session"];
  /** The variables that the program's settings name and that the start does not have. */
  lacks: PreparedLaunch["lacks"];
}

/** Claims, plans, and lets a pane start the wrapper. */
export async function startInPane(
  services: LaunchServices,
  workerId: number,
  input: StartInput,
  { tmux, minting, ready }: StartContext,
): Promise<StartedRun> {
  const server = tmux.server({ ...input.environment, ...input.own }.PATH);
  await server.ensure();
  const claimed = await claimOwnStart(services, workerId, input, "pane");
  const { run, generation } = claimed.grant;
  try {
    const start = await prepareOwnStart(services, claimed, minting);
    await ready();
    assertCurrent(services, run, generation);
    const { pane, pid } = await server.start(paneOf(services, start));
    const { session, lacks } = start.launch;
    return { run: await setWrapper(services, run, pid, pane), session, lacks };
  } catch (error) {
    // A pane that comes up late must find nothing to start.
    removeScript(claimed);
    const started = await releaseUnlessStarted(services, tmux, run);
    if (started) return { run: started, session: null, lacks: [] };
    throw error;
  }
}

function paneOf(
  services: LaunchServices,
  { project, worker, settings, grant, launch, script }: ReadyStart,
): Parameters<ReturnType<TmuxHandle["server"]>["start"]>[0] {
  return {
    project: project.slug,
    worker: worker.name,
    workerId: String(worker.id),
    group: settings.group,
    run: grant.run,
    env: { PERDURE_RUN: grant.run, PERDURE_SOCKET: grant.socket },
    window: windowPlaceOf(services.db, worker.id),
    cwd: launch.cwd,
    argv: ["/bin/sh", script],
  };
}

/** Gives the name back, unless the pane was made after all and only the answer was lost: then returns that run. */
async function releaseUnlessStarted(services: LaunchServices, tmux: TmuxHandle, id: string): Promise<Run | null> {
  await adoptPanes(services, tmux);
  const run = runById(services.db, id);
  if (run === null || run.endedMs !== null) return null;
  if (run.pane !== PENDING_PANE) return run;
  await releaseClaim(services, run);
  return null;
}
