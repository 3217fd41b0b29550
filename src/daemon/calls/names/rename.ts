import { join } from "node:path";
import type { CallParams, CallResults } from "../../../protocol/calls/index.ts";
import { PerdureError } from "../../../protocol/errors.ts";
import { hintOf, verb } from "../../../protocol/hint.ts";
import { checkName, nameKey, formatAddress } from "../../../protocol/names.ts";
import { requirePresent } from "../../../util/require-present.ts";
import { writeFileAtomic } from "../../../state/files.ts";
import { ADDRESS_FILE } from "../../../state/paths.ts";
import { holderOf, type Run } from "../../../store/runs.ts";
import { clearDesired } from "../../../store/fleet.ts";
import { releaseConversations } from "../../../store/conversations.ts";
import { dropSavedOfWorker } from "../../../store/saved.ts";
import {
  deleteTombstone,
  deleteTombstonesOfWorker,
  insertTombstone,
  tombstoneByName,
} from "../../../store/tombstones.ts";
import { renameWorker, retireWorker, workerById, workerByName } from "../../../store/workers.ts";
import { recordEvent } from "../../events.ts";
import type { Services } from "../../services.ts";
import { statusLineKey } from "../../mail/mailbox-change.ts";
import { deadLetterAll } from "../../mail/transition.ts";
import { findWorker, projectOf, type FoundWorker } from "../../names/lookup.ts";
import { isOnlyRecorded, placeOf } from "../../runs/elsewhere.ts";
import type { CallContext } from "../context.ts";

/** Renames a worker, which keeps everything else; a tombstone under the old name points to the new one. */
export async function renameCall(
  params: CallParams<"rename">,
  { services }: CallContext,
): Promise<CallResults["rename"]> {
  const { id, run, ...renamed } = await services.writer.write(() => {
    const { project, worker, address } = findWorker(services, params.target);
    const name = checkName(params.to);
    const key = nameKey(name);
    if (name === worker.name)
      throw new PerdureError("conflict", `${address} already has that name.`, { hint: verb("ls") });
    assertNameFree(services, { project, worker, address }, name);
    renameWorker(services.db, worker.id, name, key);
    deleteTombstone(services.db, project.id, key);
    if (key !== worker.nameKey) {
      const tombstone = { nameKey: worker.nameKey, name: worker.name, workerId: worker.id, createdMs: services.now() };
      insertTombstone(services.db, { ...tombstone, projectId: project.id });
    }
    recordEvent(
      services,
      "worker.renamed",
      { projectId: project.id, workerId: worker.id },
      { from: worker.name, to: name },
    );
    services.mail.notify(statusLineKey(worker.id));
    const holder = holderOf(services.db, worker);
    return { id: worker.id, run: holder, address: formatAddress(project.slug, name), from: address };
  });
  if (run) tellRun(services, run, renamed.address);
  await renameWindow(services, id, params.to);
  return renamed;
}

/** Leaves the new address in the run's folder, where `whoami` reads it: the environment of a process does not change. */
function tellRun(services: Services, run: Run, address: string): void {
  try {
    writeFileAtomic(join(services.runs.runDir(run.id), ADDRESS_FILE), `${address}\n`);
  } catch (error) {
    services.log(`the new address of ${run.id} could not be written: ${String(error)}`); // mail goes by the token
  }
}

/** Renames the worker's tmux window, which is only for people: a failure is logged. */
async function renameWindow(services: Services, workerId: number, name: string): Promise<void> {
  try {
    await services.fleet.tmux.existingServer()?.rename(String(workerId), name);
  } catch (error) {
    services.log(`a window could not be renamed: ${String(error)}`);
  }
}

function assertNameFree(services: Services, { project, worker }: FoundWorker, name: string): void {
  const key = nameKey(name);
  const other = workerByName(services.db, project.id, key);
  if (other && other.id !== worker.id) {
    throw new PerdureError("conflict", `${formatAddress(project.slug, other.name)} already exists.`, {
      hint: "choose another name",
    });
  }
  const tombstone = tombstoneByName(services.db, project.id, key);
  if (!tombstone || tombstone.workerId === worker.id) return;
  const renamed = requirePresent(workerById(services.db, tombstone.workerId), `worker ${tombstone.workerId}`);
  throw new PerdureError(
    "conflict",
    `${tombstone.name} is the old name of ${formatAddress(project.slug, renamed.name)}, and its mail goes there.`,
    {
      hint: hintOf`choose another name, or free it first: ${verb("retire", tombstone.name)}`,
    },
  );
}

/** Frees a name for good: that of a worker that does not run, or a former name that points to a renamed worker. */
export async function retireCall(
  params: CallParams<"retire">,
  { services }: CallContext,
): Promise<CallResults["retire"]> {
  return services.writer.write(() => retireOldName(services, params) ?? retireWorkerNow(services, params));
}

function retireOldName(services: Services, { target }: CallParams<"retire">): CallResults["retire"] | null {
  const project = projectOf(services, target);
  const tombstone = project && tombstoneByName(services.db, project.id, nameKey(target.name));
  if (!project || !tombstone) return null;
  deleteTombstone(services.db, project.id, tombstone.nameKey);
  recordEvent(
    services,
    "name.freed",
    { projectId: project.id, workerId: tombstone.workerId },
    { name: tombstone.name },
  );
  return { address: formatAddress(project.slug, tombstone.name) };
}

function retireWorkerNow(services: Services, { target }: CallParams<"retire">): CallResults["retire"] {
  const { project, worker, address } = findWorker(services, target);
  const run = holderOf(services.db, worker);
  const [holder] = run ? services.runs.processesOf(run) : [];
  if (run && holder) {
    const where = isOnlyRecorded(services.processes, holder) ? ` in ${placeOf(run)}` : "";
    throw new PerdureError("held", `${address} is running: run ${run.id}, pid ${holder.pid}${where}.`, {
      hint: hintOf`stop it first: ${verb(where === "" ? "stop" : "takeover", address)}`,
      details: { run: run.id, pid: holder.pid },
    });
  }
  if (run) services.runs.recordEnd(run);
  retireWorker(services.db, worker.id, services.now());
  services.environments.sweepAfterCommit();
  clearDesired(services.db, worker.id);
  const dead = deadLetterAll(services, project.id, worker.id, `${worker.name} was retired`);
  releaseConversations(services.db, worker.id, services.now());
  dropSavedOfWorker(services.db, worker.id);
  deleteTombstonesOfWorker(services.db, worker.id);
  recordEvent(services, "worker.retired", { projectId: project.id, workerId: worker.id });
  return { address, dead };
}
