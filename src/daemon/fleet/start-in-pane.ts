import { randomBytes } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LaunchOrder } from "../../protocol/records/launch.ts";
import { anchorSettings, predecessorContext } from "../../project/context-file.ts";
import { readSettingsAt } from "../../project/config/read.ts";
import type { CallParams } from "../../protocol/calls/index.ts";
import type { GivenEnvironment } from "../../protocol/records/environment.ts";
import { isPerdureError } from "../../protocol/errors.ts";
import { linkTitle, paneScript } from "../../runtime/wrapper/pane-script.ts";
import { depositMail } from "../../launch/deposit.ts";
import { tellAtStart, prepareLaunch, type LaunchHelpers, type PreparedLaunch } from "../../launch/prepare.ts";
import { windowPlaceOf } from "../../store/fleet.ts";
import { projectById, type Project } from "../../store/projects.ts";
import { PENDING_PANE, runById, setHolder, type Run } from "../../store/runs.ts";
import { fleetSettingsOf, workerById, type FleetSettings, type Worker } from "../../store/workers.ts";
import { requirePresent } from "../../util/require-present.ts";
import { adapterOf } from "../../vendors/index.ts";
import { assertCurrent } from "../permissions/actor.ts";
import { bindMinted } from "../launch/bind.ts";
import { claim } from "../names/claim.ts";
import type { LaunchServices } from "../launch/services.ts";
import { START_SCRIPT } from "../runs/identity.ts";
import type { KeyedMutex } from "../../util/semaphore.ts";
import type { TmuxHandle } from "./tmux-handle.ts";
import { adoptPanes } from "./screens.ts";

/** The command to start the worker with; null stands for the command of its last start. */
export type StartInput = Pick<CallParams<"claim">, "command" | "cwd" | "vendor"> &
  GivenEnvironment & { fresh: boolean };

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

/**
 * Claims, plans, and lets a pane start the wrapper. Until the wrapper is there, the daemon itself holds the name: a daemon
 * that is killed in between leaves a claim whose process is gone, or a pane that carries the run and is found by that.
 */
export async function startInPane(
  services: LaunchServices,
  workerId: number,
  input: StartInput,
  { tmux, minting, ready }: StartContext,
): Promise<StartedRun> {
  const worker = requirePresent(workerById(services.db, workerId), `worker ${workerId}`);
  const project = requirePresent(projectById(services.db, worker.projectId), `project ${worker.projectId}`);
  const variables = { ...input.environment, ...input.own };
  const server = tmux.server(variables.PATH);
  await server.ensure();
  const settings = fleetSettingsOf(worker);
  const params = { ...claimParams(project, worker, input, settings), namespace: services.processes.namespace() };
  const grant = await claim(services, params, { actor: { kind: "operator" }, forPane: true });
  try {
    const bind = (session: string): Promise<LaunchOrder> => {
      const { run, generation, token } = grant;
      return bindMinted(services, { run, generation, token, session, ...launchParams(params) });
    };
    const mintInTurn: LaunchHelpers["exclusively"] = (vendor, act) => minting.run(vendor, act);
    const helpers = { ...ADAPTERS_AT_HAND, bind, exclusively: mintInTurn };
    const launch = await prepareLaunch(grant, variables, helpers);
    await tellAtStart(launch, predecessorFile(project, launch), helpers.adapterOf);
    const script = join(grant.runDir, START_SCRIPT);
    linkTitle({ form: grant.wrapper, runDir: grant.runDir, name: grant.name });
    writeFileSync(script, scriptOf(script, launch, settings), { mode: 0o600 });
    await ready();
    const { run, socket } = grant;
    assertCurrent(services, run, grant.generation);
    const { pane, pid } = await server.start({
      project: project.slug,
      worker: worker.name,
      workerId: String(workerId),
      group: settings.group,
      run,
      env: { PERDURE_RUN: run, PERDURE_SOCKET: socket },
      window: windowPlaceOf(services.db, workerId),
      cwd: launch.cwd,
      argv: ["/bin/sh", script],
    });
    return { run: await setWrapper(services, run, pid, pane), session: launch.session, lacks: launch.lacks };
  } catch (error) {
    // A pane that comes up late must find nothing to start.
    rmSync(join(grant.runDir, START_SCRIPT), { force: true });
    const started = await releaseUnlessStarted(services, tmux, grant.run);
    if (started) return { run: started, session: null, lacks: [] };
    throw error;
  }
}

const ADAPTERS_AT_HAND = { adapterOf: async (vendor: string) => adapterOf(vendor), deposit: depositMail };

function claimParams(
  project: Project,
  worker: Worker,
  input: StartInput,
  { prompt }: FleetSettings,
): CallParams<"claim"> {
  const here = { identity: project.identity, root: project.root, base: project.slug };
  return {
    target: { project: project.slug, name: worker.name, here },
    kind: "run",
    token: randomBytes(32).toString("base64url"),
    pid: process.pid,
    ...input,
    prompt,
    ephemeral: false,
  };
}

function launchParams({
  command,
  cwd,
  environment,
  scope,
  own,
  vendor,
  prompt,
  fresh,
}: CallParams<"claim">): Omit<CallParams<"bindConversation">, "run" | "generation" | "token" | "session"> {
  return { command, cwd, environment, scope, own, vendor, prompt, fresh };
}

/** Records the wrapper as the holder of the name. One that is gone already has left its exit code, or has not. */
async function setWrapper(services: LaunchServices, id: string, pid: number, pane: string): Promise<Run> {
  const startedAt = services.processes.inspect(pid)?.startedAt ?? "gone";
  const run = await services.writer.write(() => {
    setHolder(services.db, id, { pid, startedAt }, pane);
    return requirePresent(runById(services.db, id), `run ${id}`);
  });
  assertCurrent(services, id, run.generation);
  services.runs.setHolder(run);
  return run;
}

/** Gives the name back, unless the pane was made after all and only the answer was lost: then returns that run. */
async function releaseUnlessStarted(services: LaunchServices, tmux: TmuxHandle, id: string): Promise<Run | null> {
  await adoptPanes(services, tmux);
  const run = runById(services.db, id);
  if (run === null || run.endedMs !== null) return null;
  if (run.pane !== PENDING_PANE) return run;
  await services.writer.write(() => services.runs.recordEnd(run, "released"));
  services.runs.untrack(id);
  return null;
}

function scriptOf(
  file: string,
  { grant, command, environment, wrapping }: PreparedLaunch,
  { openFiles }: FleetSettings,
): string {
  return paneScript(file, {
    form: grant.wrapper,
    runDir: grant.runDir,
    name: grant.name,
    command,
    environment,
    inherited: { ignored: [], openFiles },
    loaderSwallowsSignals: wrapping?.loaderSwallowsSignals === true,
  });
}

/** Returns the context file that an earlier run left, if any; a start does not depend on finding it. */
function predecessorFile(project: Project, { grant, cwd }: PreparedLaunch): string | null {
  try {
    return predecessorContext(grant.earlierRuns, anchorSettings({}, readSettingsAt(project.root) ?? {}, {}), cwd);
  } catch (error) {
    if (isPerdureError(error)) return null; // the commands that use perdure.toml say what is wrong with it
    throw error;
  }
}
