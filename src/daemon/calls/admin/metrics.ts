import type { CallParams, CallResults } from "../../../protocol/calls/index.ts";
import { readMetrics } from "../../status/metrics.ts";
import type { CallContext } from "../context.ts";

export async function metricsCall(
  _params: CallParams<"metrics">,
  context: CallContext,
): Promise<CallResults["metrics"]> {
  const { services } = context;
  const { connections, startedAtMs } = context.stats();
  return { metrics: readMetrics(services, { connections, uptimeMs: services.monotonicMs() - startedAtMs }) };
}
