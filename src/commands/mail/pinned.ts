import { identify, pinnedTarget } from "../../client/identity.ts";
import { lenientSettings } from "../../project/config/lenient.ts";
import type { FoundProject } from "../../project/find.ts";
import type { Target } from "../../protocol/calls/index.ts";
import { callerHere, projectRefHere } from "../shared/here.ts";
import { printable } from "../shared/output.ts";

/** A worker that this shell is pinned to, although it has no run's token: it acts as the operator. */
export interface PinnedWorker {
  address: string;
  /** The rule that pins it. */
  source: string;
  target: Target;
  /** Says who acts here. */
  note: string;
}

/** Returns the worker that a shell without a run's token is pinned to; null if nothing says which. */
export function pinnedWorker(found: FoundProject): PinnedWorker | null {
  const caller = { ...callerHere(found), projectConfig: lenientSettings };
  const identity = identify(caller);
  const target = pinnedTarget(identity, caller, projectRefHere(found));
  if (target === null) return null;
  const { address, source } = identity;
  const note = `perdure: pinned to ${address} (by ${source}), but without the token of its run: you act as the operator`;
  return { address, source, target, note: printable(note) };
}
