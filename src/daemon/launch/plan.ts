import type { LaunchOrder, LaunchStep } from "../../protocol/records/launch.ts";
import { decideLaunch, type LaunchInput } from "../../core/launch.ts";
import { PerdureError } from "../../protocol/errors.ts";
import {
  lastEntryOfConversation,
  conversationById,
  type Conversation,
  boundConversation,
} from "../../store/conversations.ts";
import { bindNewConversation, enterRun, leaveConversation, recordTranscript } from "../conversations/bindings.ts";
import type { LaunchServices } from "./services.ts";
import { locationForNew } from "./spec.ts";
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
  if (bound && !request.fresh) assertSameConfig(request, bound);
  const decision = decideLaunch({
    address: request.address,
    name: worker.name,
    inPane: worker.fleet !== null,
    vendor: spec.vendor?.adapter.vendor ?? null,
    noConversation: spec.vendor?.noConversation ?? false,
    fresh: request.fresh,
    binding: bound && bindingOf(services, bound, probe.hasCopy),
    transcript: probe.transcript,
    holder: probe.holder,
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
  if (decision.step === "resume" && bound) {
    if (probe.transcript?.state === "good") recordTranscript(services, bound, probe.transcript);
    const order = enterAndOrder(services, { ...request, firstTurnPending: decision.firstTurnPending }, bound, "resume");
    if (order.session) order.session.restored = probe.restored;
    return { launch: order, mint: null };
  }
  if (
    decision.step === "new" &&
    decision.id !== null &&
    bound &&
    spec.vendor.adapter.launch.identity.kind === "assigned"
  ) {
    return { launch: enterAndOrder(services, request, bound, bound.forkedFrom === null ? "new" : "fork"), mint: null };
  }
  const { identity } = spec.vendor.adapter.launch;
  const source = request.fresh ? null : forkSourceOf(services, worker);
  if (identity.kind === "minted") return { launch: null, mint: mintOrder(spec, spec.vendor, source) };
  const conversation = bindNewConversation(services, worker, run, {
    ...newLocation(spec, spec.vendor, source),
    vendorId: identity.choose(),
    provenance: "assigned",
  });
  return { launch: enterAndOrder(services, request, conversation, source ? "fork" : "new"), mint: null };
}

export function bindingOf(
  services: LaunchServices,
  conversation: Conversation,
  hasCopy: boolean,
): NonNullable<LaunchInput["binding"]> {
  return {
    vendor: conversation.vendor,
    id: conversation.vendorId,
    bytes: conversation.transcriptBytes,
    sameBoot: conversation.transcriptBoot === services.processes.bootId(),
    prompted: conversation.prompted,
    hadRun: lastEntryOfConversation(services.db, conversation.id) !== null,
    hasCopy,
    minted: conversation.provenance === "minted",
  };
}

/** Refuses a command that changes the config dir (`env CLAUDE_CONFIG_DIR=… claude`): the same id is another conversation there. */
function assertSameConfig({ spec, address, worker }: LaunchRequest, bound: Conversation): void {
  if (spec.vendor === null || spec.vendor.noConversation || spec.vendor.adapter.vendor !== bound.vendor) return;
  const variables = bound.variables;
  const set = Object.entries(variables).filter((entry): entry is [string, string] => entry[1] !== null);
  const unset = Object.keys(variables).filter((name) => variables[name] === null);
  const environment = { ...spec.environment, ...Object.fromEntries(set) };
  for (const name of unset) delete environment[name];
  const { configDir } = locationForNew({ ...spec, cwd: bound.launchCwd, environment }, spec.vendor);
  if (configDir === bound.configDir) return;
  const message = `The command uses the config dir ${configDir}, but the conversation of ${address} is in ${bound.configDir}.`;
  throw new PerdureError("refused", message, {
    hint: `omit the variable, or start a new conversation there: perdure run ${worker.name} --fresh -- COMMAND`,
  });
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
