import { tokenFor } from "../../client/token.ts";
import { lenientSettings } from "../../project/config/lenient.ts";
import type { FoundProject } from "../../project/find.ts";
import type { Target } from "../../protocol/calls/index.ts";
import { statePaths } from "../../state/paths.ts";
import { callerHere, projectRefHere } from "../shared/here.ts";
import { printable, type Output } from "../shared/output.ts";

/** A worker that this shell is pinned to, although it has no run's token: it acts as the operator. */
export interface PinnedWorker {
  address: string;
  /** The rule that pins it. */
  source: string;
  target: Target;
}

/** Returns the worker that this shell is only pinned to; null for one that acts as a worker, or that nothing pins. */
export async function pinnedWorker(found: FoundProject): Promise<PinnedWorker | null> {
  if (tokenFor(process.env, statePaths(process.env).socket) !== null) return null;
  const { identify, pinnedTarget } = await import("../../client/identity.ts");
  const caller = { ...callerHere(found), projectConfig: lenientSettings };
  const identity = identify(caller);
  const target = pinnedTarget(identity, caller, projectRefHere(found));
  return target && { address: identity.address, source: identity.source, target };
}

/** Says once that a shell which is only pinned to a worker does not act as it. */
export async function noteIfOnlyPinned(found: FoundProject, out: Output): Promise<void> {
  const pinned = await pinnedWorker(found);
  if (pinned !== null) out.note(actsAsOperator(pinned));
}

export function actsAsOperator({ address, source }: Pick<PinnedWorker, "address" | "source">): string {
  return printable(
    `perdure: pinned to ${address} (by ${source}), but without the token of its run: you act as the operator`,
  );
}
