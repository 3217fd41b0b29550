import { calls } from "../../protocol/calls/index.ts";
import type { CallTable } from "../../protocol/calls/entry.ts";
import { asPerdureError } from "../../protocol/errors.ts";
import { failureError, failureKind } from "../../store/failure.ts";
import type { CallContext } from "../calls/context.ts";
import { handlers } from "../calls/index.ts";
import { authorise, type Actor } from "../permissions/actor.ts";
import { CallContextImpl, type CallSink, type DaemonContext } from "./call-context.ts";
import { callNamed, parseParams } from "./parse-call.ts";

/**
 * Carries out one call: checks that the actor may make it, checks its parameters, and runs its handler. The transport
 * says who the actor is and has proof of it; nothing here takes a caller for the operator. Items of a stream go to the
 * sink, the result is returned, and whatever goes wrong is thrown as one of our errors.
 */
export async function dispatch(
  daemon: DaemonContext,
  actor: Actor,
  call: unknown,
  params: unknown,
  sink: CallSink,
): Promise<unknown> {
  try {
    const name = callNamed(call);
    authorise(daemon.services, actor, name);
    const parsed = parseParams(name, params);
    if ((calls as CallTable)[name]?.staysOpen) sink.keepOpen();
    // The parameters were parsed for the handler of the same name; TypeScript cannot follow the pair through the index.
    const handler = handlers[name] as (params: unknown, context: CallContext) => Promise<unknown>;
    return await handler(parsed, new CallContextImpl(actor, daemon, sink));
  } catch (thrown) {
    const kind = failureKind(thrown);
    if (kind !== null) daemon.services.onStoreFailure(kind, thrown);
    const error = kind === null ? asPerdureError(thrown) : failureError(kind, thrown);
    if (error.code === "internal") {
      daemon.services.log(`${String(call)}: ${(thrown as Error).stack ?? String(thrown)}`);
    }
    throw error;
  }
}
