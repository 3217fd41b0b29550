import { randomBytes } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CallParams } from "../../protocol/calls/index.ts";
import { isPerdureError } from "../../protocol/errors.ts";
import type { GivenEnvironment } from "../../protocol/records/environment.ts";
import type { ClaimGrant, LaunchOrder } from "../../protocol/records/launch.ts";
import { depositMail } from "../../launch/deposit.ts";
import { prepareLaunch, tellAtStart, type LaunchHelpers, type PreparedLaunch } from "../../launch/prepare.ts";
import { readSettingsAt } from "../../project/config/read.ts";
import { anchorSettings, predecessorContext } from "../../project/context-file.ts";
import { linkTitle, paneScript } from "../../runtime/wrapper/pane-script.ts";
import { projectById, type Project } from "../../store/projects.ts";
import { runById, setHolder, type Run } from "../../store/runs.ts";
import { fleetSettingsOf, workerById, type FleetSettings, type Worker } from "../../store/workers.ts";
import { requirePresent } from "../../util/require-present.ts";
import type { KeyedMutex } from "../../util/semaphore.ts";
import { adapterOf } from "../../vendors/index.ts";
import { bindMinted } from "../launch/bind.ts";
import type { LaunchServices } from "../launch/services.ts";
import { assertCurrent } from "../permissions/actor.ts";
import { START_SCRIPT } from "../runs/identity.ts";
import { claim } from "./claim.ts";

// A start that the daemon makes itself, in a pane or as a turn. Until the wrapper is there, the daemon holds the name: a daemon that is
// killed in between leaves a claim whose process is gone, or a process that carries the run and is found by that.

/** The command to start the worker with; null stands for the command of its last start. */
export type StartInput = Pick<CallParams<"claim">, "command" | "cwd" | "vendor"> &
  GivenEnvironment & { fresh: boolean };

/** A name that the daemon has claimed for a start of its own. */
export interface ClaimedStart {
  project: Project;
  worker: Worker;
  settings: FleetSettings;
  params: CallParams<"claim">;
  grant: ClaimGrant;
}

/** A start of which nothing is missing but a shell that reads the script. */
export interface ReadyStart extends ClaimedStart {
  launch: PreparedLaunch;
  /** The script that becomes the wrapper. */
  script: string;
}

export async function claimOwnStart(
  services: LaunchServices,
  workerId: number,
  input: StartInput,
  startsIn: "pane" | "turn",
): Promise<ClaimedStart> {
  const worker = requirePresent(workerById(services.db, workerId), `worker ${workerId}`);
  const project = requirePresent(projectById(services.db, worker.projectId), `project ${worker.projectId}`);
  const settings = fleetSettingsOf(worker);
  const params = { ...claimParams(project, worker, input, settings), namespace: services.processes.namespace() };
  const grant = await claim(services, params, { actor: { kind: "operator" }, startsIn });
  return { project, worker, settings, params, grant };
}

/** Prepares a claimed start up to the script. One program of a vendor at a time makes a conversation. */
export async function prepareOwnStart(
  services: LaunchServices,
  claimed: ClaimedStart,
  minting: KeyedMutex,
): Promise<ReadyStart> {
  const { project, settings, params, grant } = claimed;
  const bind = (session: string): Promise<LaunchOrder> => {
    const { run, generation, token } = grant;
    return bindMinted(services, { run, generation, token, session, ...launchParams(params) });
  };
  const mintInTurn: LaunchHelpers["exclusively"] = (vendor, act) => minting.run(vendor, act);
  const helpers = { ...ADAPTERS_AT_HAND, bind, exclusively: mintInTurn };
  const launch = await prepareLaunch(grant, { ...params.environment, ...params.own }, helpers);
  await tellAtStart(launch, predecessorFile(project, launch), helpers.adapterOf);
  const script = join(grant.runDir, START_SCRIPT);
  linkTitle({ form: grant.wrapper, runDir: grant.runDir, name: grant.name });
  writeFileSync(script, scriptOf(script, launch, settings), { mode: 0o600 });
  return { ...claimed, launch, script };
}

/** Records the wrapper as the holder of the name. One that is gone already has left its exit code, or has not. */
export async function setWrapper(services: LaunchServices, id: string, pid: number, pane: string | null): Promise<Run> {
  const startedAt = services.processes.inspect(pid)?.startedAt ?? "gone";
  const run = await services.writer.write(() => {
    setHolder(services.db, id, { pid, startedAt }, pane);
    return requirePresent(runById(services.db, id), `run ${id}`);
  });
  assertCurrent(services, id, run.generation);
  services.runs.setHolder(run);
  return run;
}

/** Makes sure that a process that comes up late finds nothing to start. */
export function removeScript({ grant }: ClaimedStart): void {
  rmSync(join(grant.runDir, START_SCRIPT), { force: true });
}

/** Gives the name back after a start that failed. */
export async function releaseClaim(services: LaunchServices, run: Run): Promise<void> {
  await services.writer.write(() => services.runs.recordEnd(run, "released"));
  services.runs.untrack(run.id);
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
