import { resolve } from "node:path";
import type { CallParams, CallResults } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { checkName, nameKey } from "../../protocol/names.ts";
import type { Holder, SessionLocation, Transcript } from "../../protocol/records/conversation.ts";
import { realPath } from "../../state/paths.ts";
import { asker } from "../../launch/ask-program.ts";
import { runById } from "../../store/runs.ts";
import { sessionById, sessionInUse, setPlace, type SessionRow } from "../../store/conversations.ts";
import { setLaunch, workerByName, type WorkerRow } from "../../store/workers.ts";
import type { Adapter } from "../../vendors/index.ts";
import { describeSession } from "../names/describe.ts";
import { record, type House } from "../services.ts";
import { knownAdapter } from "../launch/spec.ts";
import { projectOf, registerProject } from "../names/lookup.ts";
import { bind, bindNew, noteTranscript } from "../conversations/bindings.ts";
import { findOrCreate } from "../names/workers.ts";
import type { CallContext } from "./context.ts";

/** Binds a worker to a conversation that exists: one made by hand, or its own again after a loss was looked into. */
export async function adoptCall(params: CallParams<"adopt">, { house }: CallContext): Promise<CallResults["adopt"]> {
  checkName(params.target.name);
  const adapter = knownAdapter(params.vendor);
  const { dir, variables } = adapter.config(params.environment);
  const configDir = realPath(resolve(params.cwd, dir));
  const place: SessionLocation = { vendor: params.vendor, id: params.session, configDir, launchCwd: params.cwd };
  const { cwd, environment } = params;
  const transcript = await adapter.probe(place, null, asker({ command: adapter.command, cwd, environment, variables }));
  assertAdoptable(params, transcript, adapter.holders(place, house.processes)[0] ?? null);
  const adopted = await house.writer.write(() => {
    const project = projectOf(house, params.target) ?? registerProject(house, params.target.here);
    const worker = findOrCreate(house, project, params.target.name, false);
    assertStopped(house, worker);
    const session = bindExisting(house, worker, place, variables);
    if (transcript.state === "good") {
      noteTranscript(house, session, transcript);
    }
    keepCommand(house, worker, adapter, params);
    const now = workerByName(house.db, project.id, nameKey(worker.name)) ?? worker;
    const bound = sessionById(house.db, session.id) ?? session;
    return { address: `${project.slug}/${worker.name}`, worker: now, bound };
  });
  await house.custody.renew(adopted.bound.id);
  return { address: adopted.address, session: describeSession(house, adopted.worker, adopted.bound) };
}

function bindExisting(
  house: House,
  worker: WorkerRow,
  place: SessionLocation,
  variables: ReturnType<Adapter["config"]>["variables"],
): SessionRow {
  const known = sessionInUse(house.db, place.vendor, place.configDir, place.id);
  if (known?.worker_id !== worker.id) {
    const { vendor, id: vendorId, configDir, launchCwd } = place;
    return bindNew(house, worker, null, { vendor, vendorId, configDir, variables, launchCwd, provenance: "adopted" });
  }
  bind(house, worker, known.id);
  setPlace(house.db, known.id, place.launchCwd, JSON.stringify(variables));
  record(house, "session.bound", { projectId: worker.project_id, workerId: worker.id }, { session: place.id });
  return known;
}

/** A worker of this vendor keeps its arguments; any other starts the vendor's program plainly. */
function keepCommand(house: House, worker: WorkerRow, adapter: Adapter, params: CallParams<"adopt">): void {
  const same = worker.vendor === adapter.vendor && worker.command !== null;
  setLaunch(house.db, worker.id, {
    command: same ? worker.command : JSON.stringify(adapter.command),
    cwd: params.cwd,
    environment: JSON.stringify(params.environment),
    vendor: adapter.vendor,
    declared: same ? worker.declared : null,
    program_at: same ? worker.program_at : adapter.command.length - 1,
  });
}

function assertAdoptable({ vendor, session }: CallParams<"adopt">, found: Transcript, holder: Holder | null): void {
  if (found.state === "absent") {
    throw new PerdureError("not-found", `There is no ${vendor} conversation ${session} in this config dir.`, {
      hint: "check the id, and that the vendor's config dir is the one it was made with",
    });
  }
  if (found.state === "empty" || found.state === "damaged") {
    const why = found.state === "empty" ? "it is empty" : found.why;
    throw new PerdureError("refused", `The ${vendor} conversation ${session} cannot be resumed: ${why}.`, {
      hint: `look at ${found.file}`,
    });
  }
  if (holder) {
    throw new PerdureError("refused", `The ${vendor} conversation ${session} is open in pid ${holder.pid}.`, {
      hint: "leave it there first",
    });
  }
}

export function assertStopped(house: House, worker: WorkerRow): void {
  const run = worker.holder_run === null ? null : runById(house.db, worker.holder_run);
  const [holder] = run ? house.watch.processesOf(run) : [];
  if (!run || !holder) return;
  throw new PerdureError("held", `${worker.name} is running: run ${run.id}, pid ${holder.pid}.`, {
    hint: `stop it first: perdure stop ${worker.name}`,
  });
}
