import type { Variables } from "../../protocol/records/conversation.ts";
import type { LaunchOrder, LaunchStep, MintOrder } from "../../protocol/records/launch.ts";
import { introduce } from "../../core/introduction.ts";
import { INTRODUCED_PEERS_MAX } from "../../limits/index.ts";
import { lenientSettingsAt } from "../../project/config/lenient.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { formatAddress } from "../../protocol/names.ts";
import type { Run } from "../../store/runs.ts";
import { lastEntryOfRun, conversationById, conversationOfRun, type Conversation } from "../../store/conversations.ts";
import { projectById } from "../../store/projects.ts";
import { peersOf, type Worker } from "../../store/workers.ts";
import { startMessageOf, wrappingOf } from "../../launch/prepare.ts";
import { withoutPrivateEnv } from "../../vendors/index.ts";
import { locationOf } from "../conversations/probe/probe.ts";
import type { LaunchServices } from "./services.ts";
import { firstPromptOf } from "./first-prompt.ts";
import { missingVariables } from "./missing-variables.ts";
import { locationForNew, type VendorSpec, type LaunchSpec } from "./spec.ts";
import type { ConversationProbe } from "./probe-binding.ts";
import { stemIdOf, type StemProbe } from "./stem.ts";

export interface LaunchRequest {
  address: string;
  worker: Worker;
  run: Run;
  spec: LaunchSpec;
  fresh: boolean;
  /** The operator takes the other side of a split. */
  accept: boolean;
  probe: ConversationProbe;
  /** The findings about the conversation that the start branches; null for one that branches none. */
  stem: StemProbe | null;
  /** The conversation is resumed before its first turn. */
  firstTurnPending?: boolean;
}

export interface Orders {
  launch: LaunchOrder | null;
  mint: MintOrder | null;
}

/** Returns the order of a run once more, for a repeated claim or binding whose answer was lost. */
export function repeatedOrder(
  services: LaunchServices,
  request: Omit<LaunchRequest, "probe" | "stem" | "fresh" | "accept">,
): Orders {
  const entry = lastEntryOfRun(services.db, request.run.id);
  const conversation = conversationOfRun(services.db, request.run.id);
  if (conversation && entry) {
    const begun = conversation.forkedFrom === null ? "new" : "fork";
    return { launch: orderFor(services, request, conversation, entry.began === "new" ? begun : "resume"), mint: null };
  }
  const { spec } = request;
  const mints =
    spec.vendor !== null && !spec.vendor.noConversation && spec.vendor.adapter.launch.identity.kind === "minted";
  if (spec.vendor && mints) {
    const source = forkSourceOf(services, request.worker);
    return { launch: null, mint: mintOrder(spec, spec.vendor, source) };
  }
  return { launch: plainOrder(spec), mint: null };
}

/** Makes the order that starts the run in the conversation, in the folder where the conversation began. */
export function orderFor(
  services: LaunchServices,
  { worker, run, spec, firstTurnPending }: Pick<LaunchRequest, "worker" | "run" | "spec" | "firstTurnPending">,
  conversation: Conversation,
  step: LaunchStep,
): LaunchOrder {
  if (spec.vendor === null) return plainOrder(spec);
  const { adapter, programAt, declared } = spec.vendor;
  const args = argsOf(services, spec.vendor, run);
  const { vendorId: id, transcript, configDir } = conversation;
  const stem =
    step === "fork" && conversation.forkedFrom !== null ? requireStem(services, conversation.forkedFrom) : null;
  const from = stem && { session: stem.vendorId, transcript: stem.transcript };
  const locations = {
    runDir: services.runs.runDir(run.id),
    cwd: conversation.launchCwd,
    configDir,
    transcript,
    from,
    environment: spec.environment,
  };
  const prompt = firstPromptOf(spec, conversation, step, firstTurnPending === true);
  const request = { step, session: id, name: worker.name, args, prompt, declared, ...locations };
  const planned = adapter.launch.plan(request);
  const plan = adapter.launch.withTools?.(planned, request) ?? planned;
  const introduction = introductionOf(services, worker);
  const judged = adapter.unproved === null && adapter.launch.readArgs(args).headless;
  const lacks = missingVariables(spec, conversation);
  return {
    command: [...spec.command.slice(0, programAt + 1), ...plan.args],
    cwd: conversation.launchCwd,
    variables: {
      ...withoutPrivateEnv(spec.environment),
      ...conversation.variables,
      ...(run.turn === 1 && turnVariables(adapter, spec)),
      ...plan.variables,
    },
    files: plan.files,
    mirrors: plan.mirrors ?? [],
    freePort: plan.freePort ?? false,
    session: { vendor: conversation.vendor, id: conversation.vendorId, step, restored: null },
    programAt,
    introduction,
    startMessage: startMessageOf(adapter, judged, [introduction]),
    wrapping: wrappingOf(adapter),
    judged,
    ...(lacks.length > 0 && { lacks }),
  };
}

/** Returns the arguments of the program: for a turn, those that make it answer once, without a terminal. */
function argsOf(services: LaunchServices, { adapter, args }: VendorSpec, run: Run): string[] {
  return run.turn === 1 && adapter.turn ? adapter.turn.args(args, services.runs.runDir(run.id)) : args;
}

/** Returns the vendor's variables of a turn, less those that the user has set. */
function turnVariables({ turn }: VendorSpec["adapter"], { environment }: LaunchSpec): Variables {
  return Object.fromEntries(Object.entries(turn?.variables ?? {}).filter(([name]) => environment[name] === undefined));
}

/** Returns what the worker's agent is told at the start of a run; null if its project wants nothing said. */
function introductionOf(services: LaunchServices, worker: Worker): string | null {
  const project = projectById(services.db, worker.projectId);
  if (project === null || lenientSettingsAt(project.root).mail?.introduce === false) return null;
  const { first, count } = peersOf(services.db, worker, INTRODUCED_PEERS_MAX);
  const peers = first.map(({ name, vendor, fleet }) => ({ name, vendor, about: fleet?.about ?? null }));
  return introduce(formatAddress(project.slug, worker.name), worker.fleet?.about ?? null, peers, count);
}

export function plainOrder({ command, cwd, environment }: LaunchSpec): LaunchOrder {
  const variables = withoutPrivateEnv(environment);
  return { command, cwd, variables, files: [], mirrors: [], freePort: false, session: null };
}

export function mintOrder(spec: LaunchSpec, vendor: VendorSpec, source: Conversation | null): MintOrder {
  const location = newLocation(spec, vendor, source);
  return {
    vendor: vendor.adapter.vendor,
    command: spec.command.slice(0, vendor.programAt + 1),
    args: vendor.args,
    cwd: location.launchCwd,
    variables: { ...withoutPrivateEnv(spec.environment), ...location.variables },
    from: source?.vendorId ?? null,
  };
}

/** Returns the conversation that the worker is to begin as a branch of, if any; `bound` is one that was never written. */
export function forkSourceOf(
  services: LaunchServices,
  worker: Worker,
  bound: Conversation | null = null,
): Conversation | null {
  const stemId = stemIdOf(worker, bound);
  return stemId === null ? null : requireStem(services, stemId);
}

/** Returns the stem of a branch; throws without it, because the start would silently be a new conversation. */
function requireStem(services: LaunchServices, conversationId: number): Conversation {
  const stem = conversationById(services.db, conversationId);
  if (stem) return stem;
  throw new PerdureError("refused", "The conversation to branch is no longer on record.", {
    hint: "start a new one with --fresh",
  });
}

/** Returns the location of a new conversation. A branch begins where its stem did, because vendors look for it there. */
export function newLocation(
  spec: LaunchSpec,
  vendor: VendorSpec,
  source: Conversation | null,
): ReturnType<typeof locationForNew> & { forkedFrom: number | null } {
  if (source === null) return { ...locationForNew(spec, vendor), forkedFrom: null };
  const variables = source.variables;
  const { configDir, launchCwd } = locationOf(source);
  return { vendor: source.vendor, configDir, launchCwd, variables, forkedFrom: source.id };
}
