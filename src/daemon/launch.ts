import { decideLaunch } from "../core/launch.ts";
import { PerdureError } from "../protocol/errors.ts";
import type { LaunchOrder, LaunchStep, MintOrder } from "../protocol/results.ts";
import type { Holder, Transcript, Variables } from "../protocol/session.ts";
import { runById, type RunRow } from "../store/runs.ts";
import { lastSessionOfRun, sessionById, sessionOfRun, type SessionRow } from "../store/sessions.ts";
import { workerById, type WorkerRow } from "../store/workers.ts";
import { adapterOf, withoutLeaks } from "../vendors/index.ts";
import type { House } from "./house.ts";
import { placeOf, probeSession } from "./looking.ts";
import { bindNew, enter, leaveSession, noteTranscript } from "./sessions.ts";
import { placeFor, type VendorWanted, type Wanted } from "./wanted.ts";

/** What was found on disk and among the processes for the session a worker was bound to, before anything is claimed. */
export interface Outlook {
  session: number | null;
  transcript: Transcript | null;
  holder: Holder | null;
}

export async function outlookOf(house: House, session: SessionRow | null): Promise<Outlook> {
  const adapter = session && adapterOf(session.vendor);
  if (!session || !adapter) return { session: session?.id ?? null, transcript: null, holder: null };
  const transcript = await probeSession(house, session);
  const [holder = null] = adapter.holders(placeOf(session), house.processes);
  return { session: session.id, transcript, holder: holder && { ...holder, worker: ownerOf(house, holder.pid) } };
}

function ownerOf(house: House, pid: number): string | undefined {
  const run = runById(house.db, house.processes.variable(pid, "PERDURE_RUN") ?? "");
  const ours = run && house.processes.variable(pid, "PERDURE_SOCKET") === house.paths.socket;
  return ours ? workerById(house.db, run.worker_id)?.name : undefined;
}

export interface LaunchRequest {
  address: string;
  worker: WorkerRow;
  run: RunRow;
  wanted: Wanted;
  fresh: boolean;
  outlook: Outlook;
}

export interface Orders {
  launch: LaunchOrder | null;
  mint: MintOrder | null;
}

/** Inside the change that claims: a refusal here leaves nothing of the claim behind. */
export function planLaunch(house: House, request: LaunchRequest): Orders {
  const { worker, run, wanted: want, outlook } = request;
  const bound = worker.session_id === null ? null : sessionById(house.db, worker.session_id);
  if (bound && !request.fresh) assertSameConfig(request, bound);
  const decision = decideLaunch({
    address: request.address,
    name: worker.name,
    vendor: want.vendor?.adapter.vendor ?? null,
    aside: want.vendor?.aside ?? false,
    fresh: request.fresh,
    binding: bound && {
      vendor: bound.vendor,
      id: bound.vendor_id,
      bytes: bound.transcript_bytes,
      sameBoot: bound.transcript_boot === house.processes.bootId(),
      prompted: bound.prompted === 1,
      writtenAtBirth: bound.provenance === "minted",
    },
    transcript: outlook.transcript,
    holder: outlook.holder,
  });
  if (decision.step === "refuse") {
    throw new PerdureError(decision.code, decision.message, {
      hint: decision.hint,
      details: { session: bound?.vendor_id, vendor: bound?.vendor, unresumable: decision.lasting },
    });
  }
  if (decision.step === "plain" || want.vendor === null) {
    if (request.fresh && bound && want.vendor === null) leaveSession(house, worker, run, bound);
    return { launch: plainOrder(want), mint: null };
  }
  if (decision.step === "resume" && bound) {
    if (outlook.transcript?.state === "good") noteTranscript(house, bound, outlook.transcript);
    return { launch: startIn(house, request, bound, "resume"), mint: null };
  }
  if (decision.step === "new" && decision.id !== null && bound && want.vendor.adapter.identity.kind === "assigned") {
    return { launch: startIn(house, request, bound, "new"), mint: null };
  }
  const { identity } = want.vendor.adapter;
  if (identity.kind === "minted") return { launch: null, mint: mintOrder(want, want.vendor) };
  const session = bindNew(house, worker, run, {
    ...placeFor(want, want.vendor),
    vendorId: identity.choose(),
    provenance: "assigned",
  });
  return { launch: startIn(house, request, session, "new"), mint: null };
}

/** `env CLAUDE_CONFIG_DIR=… claude` has the last word, and would lead to another conversation of the same id. */
function assertSameConfig({ wanted: want, address, worker }: LaunchRequest, bound: SessionRow): void {
  if (want.vendor === null || want.vendor.aside || want.vendor.adapter.vendor !== bound.vendor) return;
  const variables = JSON.parse(bound.config_variables) as Variables;
  const set = Object.entries(variables).filter((entry): entry is [string, string] => entry[1] !== null);
  const unset = Object.keys(variables).filter((name) => variables[name] === null);
  const environment = { ...want.environment, ...Object.fromEntries(set) };
  for (const name of unset) delete environment[name];
  const { configDir } = placeFor({ ...want, cwd: bound.launch_cwd, environment }, want.vendor);
  if (configDir === bound.config_dir) return;
  const message = `The command leads to ${configDir}, and the conversation of ${address} is in ${bound.config_dir}.`;
  throw new PerdureError("refused", message, {
    hint: `leave the variable out, or begin there anew: perdure run ${worker.name} --fresh -- COMMAND`,
  });
}

function startIn(house: House, request: LaunchRequest, session: SessionRow, step: LaunchStep): LaunchOrder {
  enter(house, request.run, session, step === "resume" ? "resume" : "new");
  // Read again: where its transcript is was found out a moment ago.
  return orderFor(house, request, sessionById(house.db, session.id) ?? session, step);
}

/** The order once more, for a claim or a binding whose answer was lost. */
export function orderOfRun(house: House, request: Omit<LaunchRequest, "outlook" | "fresh">): Orders {
  const entry = lastSessionOfRun(house.db, request.run.id);
  const session = sessionOfRun(house.db, request.run.id);
  if (session && entry) {
    return { launch: orderFor(house, request, session, entry.began === "new" ? "new" : "resume"), mint: null };
  }
  const { wanted: want } = request;
  const mints = want.vendor !== null && !want.vendor.aside && want.vendor.adapter.identity.kind === "minted";
  if (want.vendor && mints) return { launch: null, mint: mintOrder(want, want.vendor) };
  return { launch: plainOrder(want), mint: null };
}

/** Resumed where it began, wherever it is called from and wherever the agent has moved since. */
export function orderFor(
  house: House,
  { worker, run, wanted: want }: Pick<LaunchRequest, "worker" | "run" | "wanted">,
  session: SessionRow,
  step: LaunchStep,
): LaunchOrder {
  if (want.vendor === null) return plainOrder(want);
  const { adapter, programAt, args } = want.vendor;
  const runDir = house.watch.runDir(run.id);
  const { vendor_id: id, transcript, config_dir: configDir } = session;
  const from = null;
  const plan = adapter.plan({ step, session: id, name: worker.name, args, runDir, configDir, transcript, from });
  return {
    command: [...want.command.slice(0, programAt + 1), ...plan.args],
    cwd: session.launch_cwd,
    variables: {
      ...withoutLeaks(want.environment),
      ...(JSON.parse(session.config_variables) as Variables),
      ...plan.variables,
    },
    files: plan.files,
    mirrors: plan.mirrors ?? [],
    session: { vendor: session.vendor, id: session.vendor_id, step },
  };
}

function plainOrder({ command, cwd, environment }: Wanted): LaunchOrder {
  return { command, cwd, variables: withoutLeaks(environment), files: [], mirrors: [], session: null };
}

function mintOrder(want: Wanted, vendor: VendorWanted): MintOrder {
  return {
    vendor: vendor.adapter.vendor,
    command: want.command.slice(0, vendor.programAt + 1),
    args: vendor.args,
    cwd: want.cwd,
    variables: { ...withoutLeaks(want.environment), ...placeFor(want, vendor).variables },
    from: null,
  };
}
