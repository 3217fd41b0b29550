import type { CallParams, CallResults } from "../../../protocol/calls/index.ts";
import { PerdureError } from "../../../protocol/errors.ts";
import { hintOf, verb } from "../../../protocol/hint.ts";
import { checkName, nameKey, formatAddress } from "../../../protocol/names.ts";
import { boundConversation, type Conversation } from "../../../store/conversations.ts";
import { setForkOf, setLaunch, workerByName } from "../../../store/workers.ts";
import { recordEvent } from "../../events.ts";
import type { Services } from "../../services.ts";
import { locationOf } from "../../conversations/probe/probe.ts";
import { findWorker } from "../../names/lookup.ts";
import { assertNotMoved } from "../../names/moved.ts";
import { probeStem } from "../../launch/probe-stem.ts";
import { assertRecorded } from "../../launch/recording.ts";
import { requireAdapter, storedSpecOf } from "../../launch/spec.ts";
import { findOrCreateWorker } from "../../names/workers.ts";
import type { CallContext } from "../context.ts";

/** Makes a worker whose first start branches this one's conversation, as it is then. The stem may continue to run. */
export async function forkCall(params: CallParams<"fork">, { services }: CallContext): Promise<CallResults["fork"]> {
  const to = checkName(params.to);
  const { project, worker, address } = findWorker(services, params.target);
  const stem = boundConversation(services.db, worker);
  if (stem === null) {
    throw new PerdureError("usage", `${address} has no conversation to branch.`, {
      hint: verb("run", to, "--", "COMMAND"),
    });
  }
  const spec = storedSpecOf(services, worker);
  if (spec !== null) assertRecorded(spec, locationOf(stem), to);
  await assertNotMoved(services, params.target, to);
  await assertForkable(services, address, stem);
  return services.writer.write(() => {
    if (workerByName(services.db, project.id, nameKey(to))) {
      throw new PerdureError("conflict", `${formatAddress(project.slug, to)} already exists.`, {
        hint: "choose another name",
      });
    }
    const branch = findOrCreateWorker(services, project, to, false);
    setLaunch(services.db, branch.id, { ...worker, cwd: stem.launchCwd });
    services.environments.copy(worker, branch.id);
    setForkOf(services.db, branch.id, stem.id);
    const subject = { projectId: project.id, workerId: branch.id };
    recordEvent(services, "session.forked", subject, { from: worker.name, session: stem.vendorId });
    return { address: formatAddress(project.slug, to), from: address, vendor: stem.vendor, session: stem.vendorId };
  });
}

async function assertForkable(services: Services, address: string, stem: Conversation): Promise<void> {
  if (!requireAdapter(stem.vendor).launch.forks) {
    throw new PerdureError("refused", `${stem.vendor} cannot branch a conversation under an id of its own.`, {
      hint: hintOf`${verb("run", "NAME", "--", "COMMAND")} begins a new one`,
    });
  }
  const probe = await probeStem(services, stem.id, { drill: true });
  if (probe === null || probe.fault === null) return;
  const why = stem.transcriptBytes === null ? "nothing was said in it yet" : `it ${probe.fault}`;
  throw new PerdureError("refused", `The ${stem.vendor} conversation of ${address} cannot be branched: ${why}.`, {
    hint: verb("drill", address),
  });
}
