import { resolve } from "node:path";
import type { LaunchOrder, LaunchStep } from "../../protocol/records/launch.ts";
import { decideLaunch, type LaunchDecision, type LaunchInput, type OtherConfig } from "../../core/launch.ts";
import { PerdureError } from "../../protocol/errors.ts";
import type { Unwritable } from "../../protocol/records/conversation.ts";
import {
  lastEntryOfConversation,
  conversationById,
  type Conversation,
  boundConversation,
} from "../../store/conversations.ts";
import type { Worker } from "../../store/workers.ts";
import { isSameFile, statIfThere } from "../../state/files.ts";
import {
  acceptSplit,
  bindNewConversation,
  enterRun,
  leaveConversation,
  recordTranscript,
  wasCleared,
} from "../conversations/binding/bindings.ts";
import { isOfOtherNamespace } from "../runs/elsewhere.ts";
import { unknownSince } from "../../store/meta.ts";
import type { ConversationProbe } from "./probe-binding.ts";
import type { LaunchServices } from "./services.ts";
import { locationOf } from "../conversations/probe/probe.ts";
import { assertRecorded } from "./recording.ts";
import { assertWholeStem } from "./stem.ts";
import { locationForNew, programVariables, type LaunchSpec } from "./spec.ts";
import { unwritablePlace } from "./writable.ts";
import {
  type LaunchRequest,
  type Orders,
  forkSourceOf,
  newLocation,
  orderFor,
  mintOrder,
  plainOrder,
} from "./orders.ts";

/** Plans the start inside the change that claims, so that a refusal undoes the claim. */
export function planLaunch(services: LaunchServices, request: LaunchRequest): Orders {
  const { worker, run, spec, probe } = request;
  const bound = boundConversation(services.db, worker);
  const decision = decideStart(services, { address: request.address, worker, bound }, probe, {
    vendor: spec.vendor?.adapter.vendor ?? null,
    noConversation: spec.vendor?.noConversation ?? false,
    fresh: request.fresh,
    accept: request.accept,
    otherConfig: bound && otherConfigOf(spec, bound),
    unwritable: unwritableStart(services, request, bound),
  });
  if (decision.step === "refuse") {
    throw new PerdureError(decision.code, decision.message, {
      hint: decision.hint,
      details: { session: bound?.vendorId, vendor: bound?.vendor, unresumable: decision.permanent },
    });
  }
  if (decision.step === "plain" || spec.vendor === null) {
    if (request.fresh && bound && spec.vendor === null) leaveConversation(services, worker, run, bound);
    return { launch: plainOrder(spec), mint: null };
  }
  const source = request.fresh ? null : forkSourceOf(services, worker, bound);
  if (decision.step === "new" && source !== null) assertWholeStem(request, source);
  const isBound = bound !== null && !request.fresh;
  assertRecorded(spec, isBound ? locationOf(bound) : newLocation(spec, spec.vendor, source), worker.name);
  if (decision.step === "resume" && bound) {
    if (probe.transcript?.state === "good") recordTranscript(services, bound, probe.transcript);
    if (probe.split !== null) acceptSplit(services, worker, run, bound, probe.split);
    const order = enterAndOrder(services, { ...request, firstTurnPending: decision.firstTurnPending }, bound, "resume");
    if (order.session) {
      order.session.restored = probe.restored;
      const since = unknownSince(services.db, worker, run);
      if (since !== null) order.session.knownUntil = new Date(since).toISOString();
    }
    return { launch: order, mint: null };
  }
  if (
    decision.step === "new" &&
    decision.id !== null &&
    bound &&
    spec.vendor.adapter.launch.identity.kind === "assigned"
  ) {
    return { launch: beginAndOrder(services, request, bound), mint: null };
  }
  const { identity } = spec.vendor.adapter.launch;
  if (identity.kind === "minted") return { launch: null, mint: mintOrder(spec, spec.vendor, source) };
  const conversation = bindNewConversation(services, worker, run, {
    ...newLocation(spec, spec.vendor, source),
    vendorId: identity.choose(),
    provenance: "assigned",
    cleared: !request.fresh && wasCleared(bound),
  });
  return { launch: beginAndOrder(services, request, conversation), mint: null };
}

/** Returns what keeps the start from writing its conversation; null for a run in a container, whose mounts are not the daemon's. */
function unwritableStart(
  services: LaunchServices,
  { worker, run, spec, probe, fresh }: LaunchRequest,
  bound: Conversation | null,
): Unwritable | null {
  if (spec.vendor === null || spec.vendor.noConversation || isOfOtherNamespace(services.processes, run)) return null;
  if (bound !== null && !fresh) return probe.unwritable;
  return unwritablePlace(newLocation(spec, spec.vendor, fresh ? null : forkSourceOf(services, worker)));
}

interface StartOf {
  address: string;
  worker: Worker;
  bound: Conversation | null;
}

/** Decides how the worker would start after these findings. A start, a drill and `up --resume` all decide here. */
export function decideStart(
  services: LaunchServices,
  { address, worker, bound }: StartOf,
  probe: ConversationProbe,
  input: Pick<LaunchInput, "vendor" | "noConversation" | "fresh" | "accept" | "otherConfig" | "unwritable">,
): LaunchDecision {
  const { transcript, holder, split, obstacle, archived } = probe;
  const place = { address, name: worker.name, inPane: worker.fleet !== null };
  const binding = bound && bindingOf(services, bound, probe);
  return decideLaunch({ ...place, ...input, binding, transcript, holder, split, obstacle, archived });
}

function bindingOf(
  services: LaunchServices,
  conversation: Conversation,
  { hasCopy, restored }: ConversationProbe,
): NonNullable<LaunchInput["binding"]> {
  const last = lastEntryOfConversation(services.db, conversation.id);
  return {
    vendor: conversation.vendor,
    id: conversation.vendorId,
    bytes: restored?.bytes ?? conversation.transcriptBytes,
    sameBoot: conversation.transcriptBoot === services.processes.bootId(),
    prompted: conversation.prompted,
    hadRun: last !== null,
    hasCopy,
    minted: conversation.provenance === "minted",
    unrecorded: conversation.prompted && last?.proved === "false" ? last.evidence : null,
  };
}

/**
 * Returns the config dir that the start would use, if it is not the conversation's: the command sets a variable
 * (`env CLAUDE_CONFIG_DIR=… claude`), or a link on the way leads elsewhere since.
 */
export function otherConfigOf(spec: LaunchSpec, bound: Conversation): OtherConfig | null {
  if (spec.vendor === null || spec.vendor.noConversation || spec.vendor.adapter.vendor !== bound.vendor) return null;
  const { adapter, programAt } = spec.vendor;
  const variables = bound.variables;
  const set = Object.entries(variables).filter((entry): entry is [string, string] => entry[1] !== null);
  const environment = { ...spec.environment, ...Object.fromEntries(set) };
  for (const name of Object.keys(variables)) if (variables[name] === null) delete environment[name];
  const start = { ...spec, cwd: bound.launchCwd, environment };
  const { configDir } = locationForNew(start, spec.vendor);
  const own = bound.configDir;
  if (isSameFile(configDir, own)) return null;
  const path = resolve(bound.launchCwd, adapter.storage.configDirOf(environment).dir);
  const assigned = resolve(bound.launchCwd, adapter.storage.configDirOf(programVariables(start, programAt)).dir);
  return { configDir, own, ownExists: statIfThere(own) !== undefined, path: assigned === path ? path : null };
}

/** Begins a conversation; one that is a branch has what was put back of its stem. */
function beginAndOrder(services: LaunchServices, request: LaunchRequest, conversation: Conversation): LaunchOrder {
  const isBranch = conversation.forkedFrom !== null;
  const order = enterAndOrder(services, request, conversation, isBranch ? "fork" : "new");
  if (isBranch && order.session) order.session.restored = request.stem?.restored ?? null;
  return order;
}

function enterAndOrder(
  services: LaunchServices,
  request: LaunchRequest,
  conversation: Conversation,
  step: LaunchStep,
): LaunchOrder {
  enterRun(services, request.run, conversation, step === "resume" ? "resume" : "new");
  // The row is read again, because the path of the transcript was recorded a moment ago.
  return orderFor(services, request, conversationById(services.db, conversation.id) ?? conversation, step);
}
