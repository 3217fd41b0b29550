import type { CallParams, CallResults } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { checkName, nameKey } from "../../protocol/names.ts";
import { sessionById, type SessionRow } from "../../store/conversations.ts";
import { setForkOf, setLaunch, workerByName } from "../../store/workers.ts";
import { record, type House } from "../services.ts";
import { probeSession } from "../conversations/probe.ts";
import { findWorker } from "../names/lookup.ts";
import { knownAdapter } from "../launch/spec.ts";
import { findOrCreate } from "../names/workers.ts";
import type { CallContext } from "./context.ts";

/** A new worker whose first start is a branch of this one's conversation, as it is then. The stem may go on running. */
export async function forkCall(params: CallParams<"fork">, { house }: CallContext): Promise<CallResults["fork"]> {
  const to = checkName(params.to);
  const { project, worker, address } = findWorker(house, params.target);
  const stem = worker.session_id === null ? null : sessionById(house.db, worker.session_id);
  if (stem === null) {
    throw new PerdureError("usage", `${address} is in no conversation, so there is nothing to branch.`, {
      hint: `perdure run ${to} -- COMMAND`,
    });
  }
  await assertForkable(house, address, stem);
  return house.writer.write(() => {
    if (workerByName(house.db, project.id, nameKey(to))) {
      throw new PerdureError("conflict", `${project.slug}/${to} exists already.`, { hint: "choose another name" });
    }
    const branch = findOrCreate(house, project, to, false);
    setLaunch(house.db, branch.id, { ...worker, cwd: stem.launch_cwd });
    setForkOf(house.db, branch.id, stem.id);
    const subject = { projectId: project.id, workerId: branch.id };
    record(house, "session.forked", subject, { from: worker.name, session: stem.vendor_id });
    return { address: `${project.slug}/${to}`, from: address, vendor: stem.vendor, session: stem.vendor_id };
  });
}

async function assertForkable(house: House, address: string, stem: SessionRow): Promise<void> {
  if (!knownAdapter(stem.vendor).launch.forks) {
    throw new PerdureError("refused", `${stem.vendor} has no way to branch a conversation under an id of its own.`, {
      hint: "perdure run NAME -- COMMAND begins a new one",
    });
  }
  const transcript = await house.custody.compare(stem, await probeSession(house, stem));
  if (transcript.state === "good") return;
  const why = transcript.state === "damaged" ? transcript.why : "nothing was said in it yet";
  throw new PerdureError("refused", `The ${stem.vendor} conversation of ${address} cannot be branched: ${why}.`, {
    hint: `perdure drill ${address}`,
  });
}
