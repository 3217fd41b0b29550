import type { CallParams, CallResults } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { checkName, nameKey } from "../../protocol/names.ts";
import { holderOf } from "../../store/runs.ts";
import { undesire } from "../../store/fleet.ts";
import { releaseConversations } from "../../store/conversations.ts";
import { dropSavedOfWorker } from "../../store/saved.ts";
import { deleteTombstone, deleteTombstonesOfWorker, insertTombstone, tombstoneByName } from "../../store/tombstones.ts";
import { renameWorker, retireWorker, workerById, workerByName } from "../../store/workers.ts";
import { record, type House } from "../services.ts";
import { bury } from "../mail/transition.ts";
import { findWorker, projectOf, type FoundWorker } from "../names/lookup.ts";
import type { CallContext } from "./context.ts";

/** The worker keeps everything but its name; the old name stays behind and says where it went. */
export async function renameCall(params: CallParams<"rename">, { house }: CallContext): Promise<CallResults["rename"]> {
  const { id, ...renamed } = await house.writer.write(() => {
    const { project, worker, address } = findWorker(house, params.target);
    const name = checkName(params.to);
    const key = nameKey(name);
    if (name === worker.name)
      throw new PerdureError("conflict", `${address} is called that already.`, { hint: "perdure ls" });
    assertFree(house, { project, worker, address }, name);
    renameWorker(house.db, worker.id, name, key);
    deleteTombstone(house.db, project.id, key);
    if (key !== worker.nameKey) {
      const tombstone = { nameKey: worker.nameKey, name: worker.name, workerId: worker.id, createdMs: house.now() };
      insertTombstone(house.db, { ...tombstone, projectId: project.id });
    }
    record(house, "worker.renamed", { projectId: project.id, workerId: worker.id }, { from: worker.name, to: name });
    return { id: worker.id, address: `${project.slug}/${name}`, from: address };
  });
  // What people see it called on its window.
  await renameWindow(house, id, params.to);
  return renamed;
}

/** For people: the name itself has changed already. */
async function renameWindow(house: House, workerId: number, name: string): Promise<void> {
  try {
    await house.fleet.panes.ifThere()?.rename(String(workerId), name);
  } catch (error) {
    house.log(`a window could not be renamed: ${String(error)}`);
  }
}

function assertFree(house: House, { project, worker }: FoundWorker, name: string): void {
  const key = nameKey(name);
  const other = workerByName(house.db, project.id, key);
  if (other && other.id !== worker.id) {
    throw new PerdureError("conflict", `${project.slug}/${other.name} exists already.`, {
      hint: "choose another name",
    });
  }
  const tombstone = tombstoneByName(house.db, project.id, key);
  if (!tombstone || tombstone.workerId === worker.id) return;
  const heir = workerById(house.db, tombstone.workerId);
  throw new PerdureError(
    "conflict",
    `${tombstone.name} is the old name of ${project.slug}/${heir?.name}, and its mail goes there.`,
    {
      hint: `choose another name, or free it first: perdure retire ${tombstone.name}`,
    },
  );
}

/** Frees a name for good: a worker that does not run, or an old name that only points to a renamed one. */
export async function retireCall(params: CallParams<"retire">, { house }: CallContext): Promise<CallResults["retire"]> {
  return house.writer.write(() => retireOldName(house, params) ?? retireWorkerNow(house, params));
}

function retireOldName(house: House, { target }: CallParams<"retire">): CallResults["retire"] | null {
  const project = projectOf(house, target);
  const tombstone = project && tombstoneByName(house.db, project.id, nameKey(target.name));
  if (!project || !tombstone) return null;
  deleteTombstone(house.db, project.id, tombstone.nameKey);
  record(house, "name.freed", { projectId: project.id, workerId: tombstone.workerId }, { name: tombstone.name });
  return { address: `${project.slug}/${tombstone.name}` };
}

function retireWorkerNow(house: House, { target }: CallParams<"retire">): CallResults["retire"] {
  const { project, worker, address } = findWorker(house, target);
  const run = holderOf(house.db, worker);
  const [holder] = run ? house.watch.processesOf(run) : [];
  if (run && holder) {
    throw new PerdureError("held", `${address} is running: run ${run.id}, pid ${holder.pid}.`, {
      hint: `stop it first: perdure stop ${address}`,
      details: { run: run.id, pid: holder.pid },
    });
  }
  if (run) house.watch.finish(run);
  retireWorker(house.db, worker.id, house.now());
  undesire(house.db, worker.id);
  bury(house, project.id, worker.id, `${worker.name} was retired`);
  releaseConversations(house.db, worker.id, house.now());
  dropSavedOfWorker(house.db, worker.id);
  deleteTombstonesOfWorker(house.db, worker.id);
  record(house, "worker.retired", { projectId: project.id, workerId: worker.id });
  return { address };
}
