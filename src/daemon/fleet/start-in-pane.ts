import { randomBytes } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { anchorSettings, predecessorContext } from "../../project/context-file.ts";
import { readSettingsAt } from "../../project/config/read.ts";
import type { CallParams } from "../../protocol/calls/index.ts";
import { isPerdureError } from "../../protocol/errors.ts";
import type { LaunchOrder } from "../../protocol/records/worker.ts";
import { paneScript } from "../../runtime/wrapper/pane-script.ts";
import { prepareLaunch, tellOfPredecessor, type Launch } from "../../launch/prepare.ts";
import { keepingOf, type Keeping } from "../../store/fleet.ts";
import { projectById, type ProjectRow } from "../../store/projects.ts";
import { PENDING_PANE, runById, setHolder, type RunRow } from "../../store/runs.ts";
import { workerById, type WorkerRow } from "../../store/workers.ts";
import { adapterOf } from "../../vendors/index.ts";
import { assertCurrent } from "../permissions/actor.ts";
import { bindCall } from "../calls/bind.ts";
import { claimCall } from "../names/claim.ts";
import type { House } from "../services.ts";
import { START_SCRIPT } from "../runs/identity.ts";
import { KeyedMutex } from "../../util/semaphore.ts";
import type { Panes } from "./tmux-handle.ts";
import { adoptPanes } from "./screens.ts";

/** What to start it with; without, as it was started last. */
export type Given = Pick<CallParams<"claim">, "command" | "cwd" | "environment" | "vendor"> & { fresh: boolean };

const minting = new KeyedMutex();

export interface Started {
  run: RunRow;
  session: LaunchOrder["session"];
}

/**
 * Claims, plans, and lets a pane start the wrapper. Until that is there, the daemon itself stands for the run: killed in
 * between, it leaves a claim whose process is gone, or a pane that carries the run and is found by that. `ready` resolves
 * when it may go.
 */
export async function startInPane(
  house: House,
  panes: Panes,
  workerId: number,
  given: Given,
  ready: () => Promise<void>,
): Promise<Started> {
  const { project, worker } = mustBe(house, workerId);
  const tmux = panes.server(given.environment.PATH);
  await tmux.ensure();
  const keeping = keepingOf(worker);
  const claim = claimOf(project, worker, given, keeping);
  const claimer = { house, actor: { kind: "operator" as const }, holdWhileConnected: () => undefined };
  const grant = await claimCall(claim, { ...claimer, forPane: true });
  try {
    const bind = (session: string): Promise<LaunchOrder> => {
      const { run, generation, token } = grant;
      return bindCall({ run, generation, token, session, ...launchOfClaim(claim) }, { house });
    };
    const launch = await prepareLaunch(grant, claim.environment, bind, (vendor, act) => minting.run(vendor, act));
    const left = contextFor(project, launch);
    if (left !== null) tellOfPredecessor(launch, left);
    const script = join(grant.runDir, START_SCRIPT);
    writeFileSync(script, scriptOf(script, launch, keeping), { mode: 0o600 });
    await ready();
    const { run, socket } = grant;
    assertCurrent(house, run, grant.generation);
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
    return { run: await moveTo(house, run, pid, pane), session: launch.session };
  } catch (error) {
    // A pane that is late must find nothing to start.
    rmSync(join(grant.runDir, START_SCRIPT), { force: true });
    const there = await release(house, panes, grant.run);
    if (there) return { run: there, session: null };
    throw error;
  }
}

function mustBe(house: House, workerId: number): { project: ProjectRow; worker: WorkerRow } {
  const worker = workerById(house.db, workerId);
  const project = worker && projectById(house.db, worker.project_id);
  if (!worker || !project) throw new Error(`worker ${workerId} is to be started and does not exist`);
  return { worker, project };
}

function claimOf(project: ProjectRow, worker: WorkerRow, given: Given, { prompt }: Keeping): CallParams<"claim"> {
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

function launchOfClaim(
  claim: CallParams<"claim">,
): Omit<CallParams<"bind">, "run" | "generation" | "token" | "session"> {
  const { command, cwd, environment, vendor, prompt } = claim;
  return { command, cwd, environment, vendor, prompt };
}

/** The wrapper is the holder from now on. One that is gone already has left its code, or has not. */
async function moveTo(house: House, id: string, pid: number, pane: string): Promise<RunRow> {
  const startedAt = house.processes.look(pid)?.startedAt ?? "gone";
  const run = await house.writer.write(() => {
    setHolder(house.db, id, { pid, startedAt }, pane);
    return runById(house.db, id);
  });
  if (run === null) throw new Error(`run ${id} vanished`);
  assertCurrent(house, id, run.generation);
  house.watch.movedTo(run);
  house.sessions.movedTo(run);
  return run;
}

/** The name is given back, unless the pane was made all the same and only the answer was lost: then that is the run. */
async function release(house: House, panes: Panes, id: string): Promise<RunRow | null> {
  await adoptPanes(house, panes);
  const run = runById(house.db, id);
  if (run === null || run.ended_ms !== null) return null;
  if (run.pane !== PENDING_PANE) return run;
  await house.writer.write(() => house.watch.finish(run, "released"));
  house.watch.forget(id);
  return null;
}

function scriptOf(file: string, { grant, command, environment, session }: Launch, { openFiles }: Keeping): string {
  return paneScript(file, {
    form: grant.wrapper,
    runDir: grant.runDir,
    command,
    environment,
    inherited: { ignored: [], openFiles },
    deafLoader: session !== null && adapterOf(session.vendor)?.deafLoader === true,
  });
}

/** An earlier run may have left its notes; nobody's start depends on finding them. */
function contextFor(project: ProjectRow, { grant, cwd }: Launch): string | null {
  try {
    return predecessorContext(grant.earlierRuns, anchorSettings({}, readSettingsAt(project.root) ?? {}, {}), cwd);
  } catch (error) {
    if (isPerdureError(error)) return null; // whoever uses the project's file is told what is wrong with it
    throw error;
  }
}
