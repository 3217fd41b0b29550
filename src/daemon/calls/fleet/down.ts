import type { CallParams, CallResults } from "../../../protocol/calls/index.ts";
import type { DownItem } from "../../../protocol/records/fleet.ts";
import { bringDownMember, fleetWorkers } from "../../fleet/bring-down.ts";
import { findWorker } from "../../names/lookup.ts";
import type { CallContext } from "../context.ts";

/** Brings down the workers named, else all that were brought up. Only processes that carry their run are signalled. */
export async function downCall(params: CallParams<"down">, context: CallContext): Promise<CallResults["down"]> {
  const { services } = context;
  const targets = params.targets?.map((target) => findWorker(services, target)) ?? fleetWorkers(services, params);
  const items = await Promise.all(
    targets.map(async (found) => {
      const item = await bringDownMember(services, found, params);
      await context.send(item);
      return item;
    }),
  );
  await services.fleet.tmux.endIfEmpty().catch((error: unknown) => services.log(`tmux: ${String(error)}`));
  const count = (outcome: DownItem["outcome"]): number => items.filter((item) => item.outcome === outcome).length;
  return { stopped: count("stopped") + count("killed"), failed: count("failed"), count: items.length };
}
