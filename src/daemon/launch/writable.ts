import { dirname } from "node:path";
import { refuseUnwritable } from "../../core/launch.ts";
import { PerdureError } from "../../protocol/errors.ts";
import type { Transcript, Unwritable } from "../../protocol/records/conversation.ts";
import { unwritableAt } from "../../state/unwritable.ts";
import type { Conversation } from "../../store/conversations.ts";
import type { Worker } from "../../store/workers.ts";
import { adapterOf } from "../../vendors/index.ts";
import { locationOf } from "../conversations/probe/probe.ts";
import { locationForNew, type LaunchSpec } from "./spec.ts";

// Some programs go on without a word when they cannot write their conversation, and end well: what was said is lost. So every start
// looks first whether it could be written. That is looked at from here, as the user and with the mounts of the daemon.

/**
 * Returns what keeps a conversation from being written where it is, or, while it has no transcript, from being begun. One that is lost
 * is put back first, for which its folder has to be writable, too.
 */
export function unwritableConversation(
  conversation: Conversation,
  found: Transcript | null,
  isLost = false,
): Unwritable | null {
  const file = found !== null && "file" in found ? found.file : conversation.transcript;
  if (file === null) return unwritablePlace(locationOf(conversation));
  return unwritableAt(file) ?? (isLost ? unwritableAt(dirname(file)) : null);
}

/** Returns what keeps a new conversation from being written. */
export function unwritablePlace(place: { vendor: string; configDir: string; launchCwd: string }): Unwritable | null {
  const path = adapterOf(place.vendor)?.storage.writesTo?.(place);
  return path === undefined ? null : unwritableAt(path);
}

/** Throws if the next start of the worker would be refused because what is said could not be written. */
export function assertWritable(address: string, worker: Worker, spec: LaunchSpec, bound: Conversation | null): void {
  if (spec.vendor === null || spec.vendor.noConversation) return;
  if (bound) throwIf(unwritableConversation(bound, null), address, worker, bound.vendor, true);
  else throwIf(unwritablePlace(locationForNew(spec, spec.vendor)), address, worker, spec.vendor.adapter.vendor, false);
}

/** Throws if the conversation's copy could not be put in its place. */
export function assertRestorable(address: string, worker: Worker, conversation: Conversation): void {
  throwIf(unwritableConversation(conversation, null, true), address, worker, conversation.vendor, true);
}

function throwIf(
  unwritable: Unwritable | null,
  address: string,
  { name, fleet }: Worker,
  vendor: string,
  isBound: boolean,
): void {
  if (unwritable === null) return;
  const place = { address, name, inPane: fleet !== null };
  const { code, message, hint } = refuseUnwritable(place, vendor, unwritable, isBound);
  throw new PerdureError(code, message, { hint, details: { ...unwritable } });
}
