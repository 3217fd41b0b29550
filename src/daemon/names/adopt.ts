import { resolve } from "node:path";
import type { CallParams } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { checkName, nameKey, formatAddress } from "../../protocol/names.ts";
import type { Holder, SessionLocation, Transcript } from "../../protocol/records/conversation.ts";
import { realPath } from "../../state/paths.ts";
import { programAsker } from "../../launch/ask-program.ts";
import {
  conversationById,
  conversationInUse,
  moveConversation,
  setOwnPrompts,
  type Conversation,
} from "../../store/conversations.ts";
import { setLaunch, workerById, workerByName, type Worker } from "../../store/workers.ts";
import type { Adapter } from "../../vendors/index.ts";
import { recordEvent } from "../events.ts";
import type { LaunchServices } from "../launch/services.ts";
import { assertRecorded } from "../launch/recording.ts";
import { launchSpecOf, requireAdapter } from "../launch/spec.ts";
import { projectOf, registerProject } from "./lookup.ts";
import { assertNotMoved } from "./moved.ts";
import {
  belongsTo,
  bindWorker,
  bindNewConversation,
  recordTranscript,
  twinOf,
} from "../conversations/binding/bindings.ts";
import { findOrCreateWorker } from "./workers.ts";
import { assertStopped } from "./claim-refusals.ts";

/** Binds a worker to an existing conversation: one made without perdure, or its own, accepted as it is after a loss. */
export async function adoptConversation(services: LaunchServices, params: CallParams<"adopt">): Promise<Adopted> {
  checkName(params.target.name);
  await assertNotMoved(services, params.target, params.target.name);
  const adapter = requireAdapter(params.vendor);
  const { dir, variables } = adapter.storage.configDirOf(params.environment);
  const configDir = realPath(resolve(params.cwd, dir));
  const location: SessionLocation = { vendor: params.vendor, id: params.session, configDir, launchCwd: params.cwd };
  const { cwd, environment } = params;
  const transcript = await adapter.storage.probe(
    location,
    params.transcript ?? null,
    programAsker(adapter, { command: adapter.command, cwd, environment, variables }),
  );
  const [holder = null] = await adapter.liveness.holders(location, services.processes);
  assertAdoptable(params, transcript, holder);
  assertAdoptedRecorded(services, params, adapter, location);
  const adopted = await services.writer.write(() => {
    const project = projectOf(services, params.target) ?? registerProject(services, params.target.here);
    const worker = findOrCreateWorker(services, project, params.target.name, false);
    assertStopped(services, worker);
    assertNoTwin(services, worker, location, transcript);
    const conversation = bindExisting(services, worker, location, variables);
    // It is accepted as it is: turns of the worker's own that a resume leaves out are no reason to refuse one any more.
    setOwnPrompts(services.db, conversation.id, []);
    if (transcript.state === "good") {
      recordTranscript(services, conversation, transcript);
    }
    storeCommand(services, worker, adapter, params);
    const now = workerByName(services.db, project.id, nameKey(worker.name)) ?? worker;
    const bound = conversationById(services.db, conversation.id) ?? conversation;
    return { address: formatAddress(project.slug, worker.name), worker: now, bound };
  });
  await services.custody.replaceCopy(adopted.bound.id);
  return adopted;
}

/** Throws if the start that follows would be refused for what it would not record. */
function assertAdoptedRecorded(
  services: LaunchServices,
  params: CallParams<"adopt">,
  adapter: Adapter,
  location: SessionLocation,
): void {
  const project = projectOf(services, params.target);
  const worker = project && workerByName(services.db, project.id, nameKey(params.target.name));
  const launch = launchAfter(worker, adapter);
  const vendor = { name: adapter.vendor, programAt: launch.programAt ?? 0, declared: launch.declared };
  const { cwd, environment } = params;
  const spec = launchSpecOf({ command: launch.command, cwd, environment, vendor }, null);
  if (spec !== null) assertRecorded(spec, location, params.target.name);
}

interface Adopted {
  address: string;
  worker: Worker;
  bound: Conversation;
}

function bindExisting(
  services: LaunchServices,
  worker: Worker,
  location: SessionLocation,
  variables: ReturnType<Adapter["storage"]["configDirOf"]>["variables"],
): Conversation {
  const known = conversationInUse(services.db, location.vendor, location.configDir, location.id);
  if (known?.workerId !== worker.id) {
    const { vendor, id: vendorId, configDir, launchCwd } = location;
    return bindNewConversation(services, worker, null, {
      vendor,
      vendorId,
      configDir,
      variables,
      launchCwd,
      provenance: "adopted",
    });
  }
  bindWorker(services, worker, known.id);
  moveConversation(services.db, known.id, location.launchCwd, variables);
  recordEvent(
    services,
    "session.bound",
    { projectId: worker.projectId, workerId: worker.id },
    { session: location.id },
  );
  return known;
}

/** Throws if another worker has the same conversation by another config dir. */
function assertNoTwin(
  services: LaunchServices,
  worker: Worker,
  { id, ...place }: SessionLocation,
  found: Transcript,
): void {
  const twin = found.state === "good" ? twinOf(services, worker, { ...place, vendorId: id }, found.file) : null;
  if (twin !== null) throw belongsTo(workerById(services.db, twin.workerId), twin);
}

/** Stores the worker's command: its own for the same vendor, else the vendor's program without arguments. */
function storeCommand(services: LaunchServices, worker: Worker, adapter: Adapter, params: CallParams<"adopt">): void {
  const { cwd, environment, scope } = params;
  setLaunch(services.db, worker.id, { cwd, vendor: adapter.vendor, ...launchAfter(worker, adapter) });
  services.environments.record(worker.id, { environment, scope });
}

function launchAfter(
  worker: Worker | null,
  { vendor, command }: Adapter,
): Pick<Worker, "command" | "declared" | "programAt"> {
  const same = worker?.vendor === vendor && worker.command !== null ? worker : null;
  return {
    command: same?.command ?? [...command],
    declared: same?.declared ?? null,
    programAt: same ? same.programAt : command.length - 1,
  };
}

function assertAdoptable({ vendor, session }: CallParams<"adopt">, found: Transcript, holder: Holder | null): void {
  if (found.state === "absent") {
    throw new PerdureError("not-found", `There is no ${vendor} conversation ${session} in the vendor's config dir.`, {
      hint: "check the id, and that the config dir is the one the conversation was made with",
    });
  }
  if (found.state === "empty" || found.state === "damaged") {
    const why = found.state === "empty" ? "it is empty" : found.why;
    throw new PerdureError("refused", `The ${vendor} conversation ${session} cannot be resumed: ${why}.`, {
      hint: `inspect ${found.file}`,
    });
  }
  if (holder) {
    throw new PerdureError("refused", `The ${vendor} conversation ${session} is open in pid ${holder.pid}.`, {
      hint: `quit it in pid ${holder.pid} first`,
      details: { openIn: holder.pid },
    });
  }
}
