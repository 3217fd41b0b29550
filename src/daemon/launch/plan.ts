import { decideLaunch, type LaunchWish } from "../../core/launch.ts";
import { PerdureError } from "../../protocol/errors.ts";
import type { LaunchOrder, LaunchStep, MintOrder, Restored } from "../../protocol/records/launch.ts";
import type { Holder, Transcript, Variables } from "../../protocol/records/conversation.ts";
import { runById, type RunRow } from "../../store/runs.ts";
import { custodyOf } from "../../store/custody.ts";
import {
  lastProofOfSession,
  lastSessionOfRun,
  sessionById,
  sessionOfRun,
  type SessionRow,
} from "../../store/conversations.ts";
import { workerById, type WorkerRow } from "../../store/workers.ts";
import { adapterOf, withoutLeaks } from "../../vendors/index.ts";
import type { House } from "../services.ts";
import { placeOf, probeSession } from "../conversations/probe.ts";
import { bindNew, enter, leaveSession, noteTranscript } from "../conversations/bindings.ts";
import { placeFor, type VendorWanted, type Wanted } from "./spec.ts";

/** What was found on disk and among the processes for the session a worker was bound to, before anything is claimed. */
export interface Outlook {
  session: number | null;
  transcript: Transcript | null;
  holder: Holder | null;
  /** The vendor had lost it, and it was put back from custody. */
  restored: Restored | null;
  /** A copy of it is kept, and is what it should be: looked at only if there is a need. */
  kept: boolean;
}

export async function outlookOf(house: House, session: SessionRow | null): Promise<Outlook> {
  const adapter = session && adapterOf(session.vendor);
  const nothing = { session: session?.id ?? null, transcript: null, holder: null, restored: null, kept: false };
  if (!session || !adapter) return nothing;
  // What its last run wrote is that run's proof: looked at before anybody writes more.
  await house.sessions.settled(session.id);
  const [holder = null] = adapter.holders(placeOf(session), house.processes);
  const seen = await house.custody.compare(session, await probeSession(house, session));
  const copy = seen.state === "good" ? null : custodyOf(house.db, session.id);
  const restored = holder === null && isLost(house, session, seen) ? await house.custody.restore(session) : null;
  const transcript = restored ? await probeSession(house, session) : seen;
  // Before the start: some vendors clear away conversations, others' too, when they begin.
  if (transcript.state === "good") await house.custody.keep(session.id, transcript.file);
  return {
    session: session.id,
    transcript,
    holder: holder && { ...holder, worker: ownerOf(house, holder.pid) },
    restored,
    kept: copy !== null && (await house.custody.whole(copy)) !== null,
  };
}

/** Gone, emptied, or cut off by a power cut, which a copy that was synced survives. What somebody changed is not lost. */
function isLost(house: House, session: SessionRow, seen: Transcript): boolean {
  if (session.transcript_bytes === null) return false;
  if (seen.state === "absent" || seen.state === "empty") return true;
  const kept = custodyOf(house.db, session.id);
  const otherBoot = session.transcript_boot !== house.processes.bootId();
  return seen.state === "good" && !seen.shrinks && otherBoot && kept !== null && seen.bytes < kept.bytes;
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
  /** Of a conversation that is resumed: its first turn is still to come. */
  unsaid?: boolean;
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
    inPane: worker.keeping !== null,
    vendor: want.vendor?.adapter.vendor ?? null,
    aside: want.vendor?.aside ?? false,
    fresh: request.fresh,
    binding: bound && bindingOf(house, bound, outlook.kept),
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
    const order = startIn(house, { ...request, unsaid: decision.unsaid }, bound, "resume");
    if (order.session) order.session.restored = outlook.restored;
    return { launch: order, mint: null };
  }
  if (decision.step === "new" && decision.id !== null && bound && want.vendor.adapter.identity.kind === "assigned") {
    return { launch: startIn(house, request, bound, bound.forked_from === null ? "new" : "fork"), mint: null };
  }
  const { identity } = want.vendor.adapter;
  const source = request.fresh ? null : sourceOf(house, worker);
  if (identity.kind === "minted") return { launch: null, mint: mintOrder(want, want.vendor, source) };
  const session = bindNew(house, worker, run, {
    ...placeForNew(want, want.vendor, source),
    vendorId: identity.choose(),
    provenance: "assigned",
  });
  return { launch: startIn(house, request, session, source ? "fork" : "new"), mint: null };
}

export function bindingOf(house: House, session: SessionRow, kept: boolean): NonNullable<LaunchWish["binding"]> {
  return {
    vendor: session.vendor,
    id: session.vendor_id,
    bytes: session.transcript_bytes,
    sameBoot: session.transcript_boot === house.processes.bootId(),
    prompted: session.prompted === 1,
    begun: lastProofOfSession(house.db, session.id) !== null,
    kept,
    writtenAtBirth: session.provenance === "minted",
  };
}

/** The conversation the worker is to begin as a branch of. */
export function sourceOf(house: House, worker: WorkerRow): SessionRow | null {
  return worker.fork_of === null ? null : stemOf(house, worker.fork_of);
}

/** Without it the start would be a new one, in silence. */
function stemOf(house: House, sessionId: number): SessionRow {
  const stem = sessionById(house.db, sessionId);
  if (stem) return stem;
  throw new PerdureError("refused", "The conversation to branch is no longer on record.", {
    hint: "begin anew with --fresh",
  });
}

/** A branch begins where its stem did: vendors look for it there. */
export function placeForNew(
  want: Wanted,
  vendor: VendorWanted,
  source: SessionRow | null,
): ReturnType<typeof placeFor> & { forkedFrom: number | null } {
  if (source === null) return { ...placeFor(want, vendor), forkedFrom: null };
  const variables = JSON.parse(source.config_variables) as Variables;
  const { configDir, launchCwd } = placeOf(source);
  return { vendor: source.vendor, configDir, launchCwd, variables, forkedFrom: source.id };
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
    const begun = session.forked_from === null ? "new" : "fork";
    return { launch: orderFor(house, request, session, entry.began === "new" ? begun : "resume"), mint: null };
  }
  const { wanted: want } = request;
  const mints = want.vendor !== null && !want.vendor.aside && want.vendor.adapter.identity.kind === "minted";
  if (want.vendor && mints) {
    const source = sourceOf(house, request.worker);
    return { launch: null, mint: mintOrder(want, want.vendor, source) };
  }
  return { launch: plainOrder(want), mint: null };
}

/** Resumed where it began, wherever it is called from and wherever the agent has moved since. */
export function orderFor(
  house: House,
  { worker, run, wanted: want, unsaid }: Pick<LaunchRequest, "worker" | "run" | "wanted" | "unsaid">,
  session: SessionRow,
  step: LaunchStep,
): LaunchOrder {
  if (want.vendor === null) return plainOrder(want);
  const { adapter, programAt, args, declared } = want.vendor;
  const { vendor_id: id, transcript, config_dir: configDir } = session;
  const stem = step === "fork" && session.forked_from !== null ? stemOf(house, session.forked_from) : null;
  const from = stem && { session: stem.vendor_id, transcript: stem.transcript };
  const places = { runDir: house.watch.runDir(run.id), configDir, transcript, from, environment: want.environment };
  // A branch goes on with what its stem said, and whoever typed /clear wants it clear.
  const begins = session.forked_from === null && session.provenance !== "rotated";
  const prompt = begins && (step === "new" || unsaid) ? want.prompt : null;
  const plan = adapter.plan({ step, session: id, name: worker.name, args, prompt, declared, ...places });
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
    freePort: plan.freePort ?? false,
    session: { vendor: session.vendor, id: session.vendor_id, step, restored: null },
  };
}

function plainOrder({ command, cwd, environment }: Wanted): LaunchOrder {
  const variables = withoutLeaks(environment);
  return { command, cwd, variables, files: [], mirrors: [], freePort: false, session: null };
}

function mintOrder(want: Wanted, vendor: VendorWanted, source: SessionRow | null): MintOrder {
  const place = placeForNew(want, vendor, source);
  return {
    vendor: vendor.adapter.vendor,
    command: want.command.slice(0, vendor.programAt + 1),
    args: vendor.args,
    cwd: place.launchCwd,
    variables: { ...withoutLeaks(want.environment), ...place.variables },
    from: source?.vendor_id ?? null,
  };
}
