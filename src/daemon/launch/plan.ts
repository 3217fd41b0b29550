import { decideLaunch, type LaunchQuestion } from "../../core/launch.ts";
import { PerdureError } from "../../protocol/errors.ts";
import type { LaunchOrder, LaunchStep, MintOrder, Restored } from "../../protocol/records/worker.ts";
import type { Holder, Transcript } from "../../protocol/records/conversation.ts";
import { runById, type Run } from "../../store/runs.ts";
import { custodyOf } from "../../store/custody.ts";
import {
  lastEntryOfConversation,
  lastEntryOfRun,
  conversationById,
  conversationOfRun,
  type Conversation,
  boundConversation,
} from "../../store/conversations.ts";
import { workerById, type Worker } from "../../store/workers.ts";
import { adapterOf, withoutLeaks } from "../../vendors/index.ts";
import type { LaunchServices } from "./services.ts";
import { locationOf, probeSession } from "../conversations/probe.ts";
import { bindNewConversation, enterRun, leaveConversation, noteTranscript } from "../conversations/bindings.ts";
import { locationForNew, type VendorSpec, type LaunchSpec } from "./spec.ts";

/** What was found on disk and among the processes for the session a worker was bound to, before anything is claimed. */
export interface SessionProbe {
  session: number | null;
  transcript: Transcript | null;
  holder: Holder | null;
  /** The vendor had lost it, and it was put back from custody. */
  restored: Restored | null;
  /** A copy of it is kept, and is what it should be: looked at only if there is a need. */
  kept: boolean;
}

export async function probeBinding(services: LaunchServices, session: Conversation | null): Promise<SessionProbe> {
  const adapter = session && adapterOf(session.vendor);
  const nothing = { session: session?.id ?? null, transcript: null, holder: null, restored: null, kept: false };
  if (!session || !adapter) return nothing;
  // What its last run wrote is that run's proof: looked at before anybody writes more.
  await services.conversations.settled(session.id);
  const [holder = null] = adapter.holders(locationOf(session), services.processes);
  const seen = await services.custody.compare(session, await probeSession(services, session));
  const copy = seen.state === "good" ? null : custodyOf(services.db, session.id);
  const restored = holder === null && isLost(services, session, seen) ? await services.custody.restore(session) : null;
  const transcript = restored ? await probeSession(services, session) : seen;
  // Before the start: some vendors clear away conversations, others' too, when they begin.
  if (transcript.state === "good") await services.custody.keep(session.id, transcript.file);
  return {
    session: session.id,
    transcript,
    holder: holder && { ...holder, worker: ownerOf(services, holder.pid) },
    restored,
    kept: copy !== null && (await services.custody.whole(copy)) !== null,
  };
}

/** Gone, emptied, or cut off by a power cut, which a copy that was synced survives. What somebody changed is not lost. */
function isLost(services: LaunchServices, session: Conversation, seen: Transcript): boolean {
  if (session.transcriptBytes === null) return false;
  if (seen.state === "absent" || seen.state === "empty") return true;
  const kept = custodyOf(services.db, session.id);
  const otherBoot = session.transcriptBoot !== services.processes.bootId();
  return seen.state === "good" && !seen.shrinks && otherBoot && kept !== null && seen.bytes < kept.bytes;
}

function ownerOf(services: LaunchServices, pid: number): string | undefined {
  const run = runById(services.db, services.processes.variable(pid, "PERDURE_RUN") ?? "");
  const ours = run && services.processes.variable(pid, "PERDURE_SOCKET") === services.paths.socket;
  return ours ? workerById(services.db, run.workerId)?.name : undefined;
}

export interface LaunchRequest {
  address: string;
  worker: Worker;
  run: Run;
  wanted: LaunchSpec;
  fresh: boolean;
  outlook: SessionProbe;
  /** Of a conversation that is resumed: its first turn is still to come. */
  unsaid?: boolean;
}

export interface Orders {
  launch: LaunchOrder | null;
  mint: MintOrder | null;
}

/** Inside the change that claims: a refusal here leaves nothing of the claim behind. */
export function planLaunch(services: LaunchServices, request: LaunchRequest): Orders {
  const { worker, run, wanted: want, outlook } = request;
  const bound = boundConversation(services.db, worker);
  if (bound && !request.fresh) assertSameConfig(request, bound);
  const decision = decideLaunch({
    address: request.address,
    name: worker.name,
    inPane: worker.fleet !== null,
    vendor: want.vendor?.adapter.vendor ?? null,
    aside: want.vendor?.aside ?? false,
    fresh: request.fresh,
    binding: bound && bindingOf(services, bound, outlook.kept),
    transcript: outlook.transcript,
    holder: outlook.holder,
  });
  if (decision.step === "refuse") {
    throw new PerdureError(decision.code, decision.message, {
      hint: decision.hint,
      details: { session: bound?.vendorId, vendor: bound?.vendor, unresumable: decision.lasting },
    });
  }
  if (decision.step === "plain" || want.vendor === null) {
    if (request.fresh && bound && want.vendor === null) leaveConversation(services, worker, run, bound);
    return { launch: plainOrder(want), mint: null };
  }
  if (decision.step === "resume" && bound) {
    if (outlook.transcript?.state === "good") noteTranscript(services, bound, outlook.transcript);
    const order = startIn(services, { ...request, unsaid: decision.unsaid }, bound, "resume");
    if (order.session) order.session.restored = outlook.restored;
    return { launch: order, mint: null };
  }
  if (decision.step === "new" && decision.id !== null && bound && want.vendor.adapter.identity.kind === "assigned") {
    return { launch: startIn(services, request, bound, bound.forkedFrom === null ? "new" : "fork"), mint: null };
  }
  const { identity } = want.vendor.adapter;
  const source = request.fresh ? null : sourceOf(services, worker);
  if (identity.kind === "minted") return { launch: null, mint: mintOrder(want, want.vendor, source) };
  const session = bindNewConversation(services, worker, run, {
    ...newLocation(want, want.vendor, source),
    vendorId: identity.choose(),
    provenance: "assigned",
  });
  return { launch: startIn(services, request, session, source ? "fork" : "new"), mint: null };
}

export function bindingOf(
  services: LaunchServices,
  session: Conversation,
  kept: boolean,
): NonNullable<LaunchQuestion["binding"]> {
  return {
    vendor: session.vendor,
    id: session.vendorId,
    bytes: session.transcriptBytes,
    sameBoot: session.transcriptBoot === services.processes.bootId(),
    prompted: session.prompted,
    begun: lastEntryOfConversation(services.db, session.id) !== null,
    kept,
    writtenAtBirth: session.provenance === "minted",
  };
}

/** The conversation the worker is to begin as a branch of. */
export function sourceOf(services: LaunchServices, worker: Worker): Conversation | null {
  return worker.forkOf === null ? null : stemOf(services, worker.forkOf);
}

/** Without it the start would be a new one, in silence. */
function stemOf(services: LaunchServices, sessionId: number): Conversation {
  const stem = conversationById(services.db, sessionId);
  if (stem) return stem;
  throw new PerdureError("refused", "The conversation to branch is no longer on record.", {
    hint: "begin anew with --fresh",
  });
}

/** A branch begins where its stem did: vendors look for it there. */
export function newLocation(
  want: LaunchSpec,
  vendor: VendorSpec,
  source: Conversation | null,
): ReturnType<typeof locationForNew> & { forkedFrom: number | null } {
  if (source === null) return { ...locationForNew(want, vendor), forkedFrom: null };
  const variables = source.variables;
  const { configDir, launchCwd } = locationOf(source);
  return { vendor: source.vendor, configDir, launchCwd, variables, forkedFrom: source.id };
}

/** `env CLAUDE_CONFIG_DIR=… claude` has the last word, and would lead to another conversation of the same id. */
function assertSameConfig({ wanted: want, address, worker }: LaunchRequest, bound: Conversation): void {
  if (want.vendor === null || want.vendor.aside || want.vendor.adapter.vendor !== bound.vendor) return;
  const variables = bound.variables;
  const set = Object.entries(variables).filter((entry): entry is [string, string] => entry[1] !== null);
  const unset = Object.keys(variables).filter((name) => variables[name] === null);
  const environment = { ...want.environment, ...Object.fromEntries(set) };
  for (const name of unset) delete environment[name];
  const { configDir } = locationForNew({ ...want, cwd: bound.launchCwd, environment }, want.vendor);
  if (configDir === bound.configDir) return;
  const message = `The command leads to ${configDir}, and the conversation of ${address} is in ${bound.configDir}.`;
  throw new PerdureError("refused", message, {
    hint: `leave the variable out, or begin there anew: perdure run ${worker.name} --fresh -- COMMAND`,
  });
}

function startIn(
  services: LaunchServices,
  request: LaunchRequest,
  session: Conversation,
  step: LaunchStep,
): LaunchOrder {
  enterRun(services, request.run, session, step === "resume" ? "resume" : "new");
  // Read again: where its transcript is was found out a moment ago.
  return orderFor(services, request, conversationById(services.db, session.id) ?? session, step);
}

/** The order once more, for a claim or a binding whose answer was lost. */
export function orderOfRun(services: LaunchServices, request: Omit<LaunchRequest, "outlook" | "fresh">): Orders {
  const entry = lastEntryOfRun(services.db, request.run.id);
  const session = conversationOfRun(services.db, request.run.id);
  if (session && entry) {
    const begun = session.forkedFrom === null ? "new" : "fork";
    return { launch: orderFor(services, request, session, entry.began === "new" ? begun : "resume"), mint: null };
  }
  const { wanted: want } = request;
  const mints = want.vendor !== null && !want.vendor.aside && want.vendor.adapter.identity.kind === "minted";
  if (want.vendor && mints) {
    const source = sourceOf(services, request.worker);
    return { launch: null, mint: mintOrder(want, want.vendor, source) };
  }
  return { launch: plainOrder(want), mint: null };
}

/** Resumed where it began, wherever it is called from and wherever the agent has moved since. */
export function orderFor(
  services: LaunchServices,
  { worker, run, wanted: want, unsaid }: Pick<LaunchRequest, "worker" | "run" | "wanted" | "unsaid">,
  session: Conversation,
  step: LaunchStep,
): LaunchOrder {
  if (want.vendor === null) return plainOrder(want);
  const { adapter, programAt, args, declared } = want.vendor;
  const { vendorId: id, transcript, configDir } = session;
  const stem = step === "fork" && session.forkedFrom !== null ? stemOf(services, session.forkedFrom) : null;
  const from = stem && { session: stem.vendorId, transcript: stem.transcript };
  const places = { runDir: services.runs.runDir(run.id), configDir, transcript, from, environment: want.environment };
  // A branch goes on with what its stem said, and whoever typed /clear wants it clear.
  const begins = session.forkedFrom === null && session.provenance !== "rotated";
  const prompt = begins && (step === "new" || unsaid) ? want.prompt : null;
  const plan = adapter.plan({ step, session: id, name: worker.name, args, prompt, declared, ...places });
  return {
    command: [...want.command.slice(0, programAt + 1), ...plan.args],
    cwd: session.launchCwd,
    variables: {
      ...withoutLeaks(want.environment),
      ...session.variables,
      ...plan.variables,
    },
    files: plan.files,
    mirrors: plan.mirrors ?? [],
    freePort: plan.freePort ?? false,
    session: { vendor: session.vendor, id: session.vendorId, step, restored: null },
  };
}

function plainOrder({ command, cwd, environment }: LaunchSpec): LaunchOrder {
  const variables = withoutLeaks(environment);
  return { command, cwd, variables, files: [], mirrors: [], freePort: false, session: null };
}

function mintOrder(want: LaunchSpec, vendor: VendorSpec, source: Conversation | null): MintOrder {
  const place = newLocation(want, vendor, source);
  return {
    vendor: vendor.adapter.vendor,
    command: want.command.slice(0, vendor.programAt + 1),
    args: vendor.args,
    cwd: place.launchCwd,
    variables: { ...withoutLeaks(want.environment), ...place.variables },
    from: source?.vendorId ?? null,
  };
}
