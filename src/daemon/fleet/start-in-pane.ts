import type { LaunchOrder } from "../../protocol/records/launch.ts";
import { randomBytes } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { anchorSettings, predecessorContext } from "../../project/context-file.ts";
import { readConfigAt } from "../../project/config/read.ts";
import type { CallParams } from "../../protocol/calls/index.ts";
import { isPerdureError } from "../../protocol/errors.ts";
import { paneScript } from "../../runtime/wrapper/pane-script.ts";
import { prepareLaunch, type PreparedLaunch } from "../../launch/prepare.ts";
import { projectById, type Project } from "../../store/projects.ts";
import { PENDING_PANE, runById, setHolder, type Run } from "../../store/runs.ts";
import { fleetSettingsOf, workerById, type FleetSettings, type Worker } from "../../store/workers.ts";
import { adapterOf } from "../../vendors/index.ts";
import { assertCurrent } from "../permissions/actor.ts";
import { bindMinted } from "../launch/bind.ts";
import { claim } from "../names/claim.ts";
import type { LaunchServices } from "../launch/services.ts";
import { START_SCRIPT } from "../runs/identity.ts";
import { Turns } from "../../util/semaphore.ts";
import type { TmuxHandle } from "./tmux-handle.ts";
import { adoptPanes } from "./screens.ts";

/** What to start it with; without, as it was started last. */
export type StartInput = Pick<CallParams<"claim">, "command" | "cwd" | "environment" | "vendor"> & { fresh: boolean };

const minting = new Turns();

export interface StartedRun {
  run: Run;
  session: LaunchOrder["session"];
}

/**
 * Claims, plans, and lets a pane start the wrapper. Until that is there, the daemon itself stands for the run: killed in
 * between, it leaves a claim whose process is gone, or a pane that carries the run and is found by that. `ready` resolves
 * when it may go.
 */
export async function startInPane(
  services: LaunchServices,
  panes: TmuxHandle,
  workerId: number,
  given: StartInput,
  ready: () => Promise<void>,
): Promise<StartedRun> {
  const { project, worker } = requireWorker(services, workerId);
  const tmux = panes.server(given.environment.PATH);
  await tmux.ensure();
  const keeping = fleetSettingsOf(worker);
  const wanted = claimOf(project, worker, given, keeping);
  const grant = await claim(services, wanted, { actor: { kind: "operator" }, forPane: true });
  try {
    const bind = (session: string): Promise<LaunchOrder> => {
      const { run, generation, token } = grant;
      return bindMinted(services, { run, generation, token, session, ...launchOfClaim(wanted) });
    };
    const launch = await prepareLaunch(grant, wanted.environment, bind, (vendor, act) => minting.take(vendor, act));
    addPredecessorNotice(project, launch);
    const script = join(grant.runDir, START_SCRIPT);
    writeFileSync(script, scriptOf(script, launch, keeping), { mode: 0o600 });
    await ready();
    const { run, socket } = grant;
    assertCurrent(services, run, grant.generation);
    const { pane, pid } = await tmux.start({
      project: project.slug,
      worker: worker.name,
      workerId: String(workerId),
      group: keeping.group,
      run,
      env: { PERDURE_RUN: run, PERDURE_SOCKET: socket },
      cwd: launch.cwd,
      argv: ["/bin/sh", script],
    });
    return { run: await setWrapper(services, run, pid, pane), session: launch.session };
  } catch (error) {
    // A pane that is late must find nothing to start.
    rmSync(join(grant.runDir, START_SCRIPT), { force: true });
    const there = await release(services, panes, grant.run);
    if (there) return { run: there, session: null };
    throw error;
  }
}

function requireWorker(services: LaunchServices, workerId: number): { project: Project; worker: Worker } {
  const worker = workerById(services.db, workerId);
  const project = worker && projectById(services.db, worker.projectId);
  if (!worker || !project) throw new Error(`worker ${workerId} is to be started and does not exist`);
  return { worker, project };
}

function claimOf(project: Project, worker: Worker, given: StartInput, { prompt }: FleetSettings): CallParams<"claim"> {
  const here = { identity: project.identity, root: project.root, base: project.slug };
  return {
    target: { project: project.slug, name: worker.name, here },
    kind: "run",
    token: randomBytes(32).toString("base64url"),
    pid: process.pid,
    ...given,
    prompt,
    ephemeral: false,
  };
}

function launchOfClaim({
  command,
  cwd,
  environment,
  vendor,
  prompt,
}: CallParams<"claim">): Omit<CallParams<"bindConversation">, "run" | "generation" | "token" | "session"> {
  return { command, cwd, environment, vendor, prompt };
}

/** The wrapper is the holder from now on. One that is gone already has left its code, or has not. */
async function setWrapper(services: LaunchServices, id: string, pid: number, pane: string): Promise<Run> {
  const startedAt = services.processes.inspect(pid)?.startedAt ?? "gone";
  const run = await services.writer.write(() => {
    setHolder(services.db, id, { pid, startedAt }, pane);
    return runById(services.db, id);
  });
  if (run === null) throw new Error(`run ${id} vanished`);
  assertCurrent(services, id, run.generation);
  services.runs.setHolder(run);
  return run;
}

/** The name is given back, unless the pane was made all the same and only the answer was lost: then that is the run. */
async function release(services: LaunchServices, panes: TmuxHandle, id: string): Promise<Run | null> {
  await adoptPanes(services, panes);
  const run = runById(services.db, id);
  if (run === null || run.endedMs !== null) return null;
  if (run.pane !== PENDING_PANE) return run;
  await services.writer.write(() => services.runs.recordEnd(run, "released"));
  services.runs.untrack(id);
  return null;
}

function scriptOf(
  file: string,
  { grant, command, environment, session }: PreparedLaunch,
  { openFiles }: FleetSettings,
): string {
  return paneScript(file, {
    form: grant.wrapper,
    runDir: grant.runDir,
    command,
    environment,
    inherited: { ignored: [], openFiles },
    deafLoader: session !== null && adapterOf(session.vendor)?.launch.loaderSwallowsSignals === true,
  });
}

/** An earlier run may have left its notes; nobody's start depends on finding them. */
function addPredecessorNotice(project: Project, launch: PreparedLaunch): void {
  const file = predecessorFile(project, launch);
  if (file === null) return;
  launch.environment.PERDURE_PREDECESSOR_CONTEXT = file;
  const { grant, session } = launch;
  const told =
    session &&
    adapterOf(session.vendor)?.launch.startMessage?.(`An earlier run of ${grant.address} left its context in ${file}.`);
  if (told) writeFileSync(join(grant.runDir, told.name), told.text, { mode: 0o600 });
}

function predecessorFile(project: Project, { grant, cwd }: PreparedLaunch): string | null {
  try {
    return predecessorContext(grant.earlierRuns, anchorSettings({}, readConfigAt(project.root) ?? {}, {}), cwd);
  } catch (error) {
    if (isPerdureError(error)) return null; // whoever uses the project's file is told what is wrong with it
    throw error;
  }
}
