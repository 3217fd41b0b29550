import type { WorkerEntry } from "../../../project/config/read.ts";
import { isPerdureError } from "../../../protocol/errors.ts";
import { commandText, verb } from "../../../protocol/hint.ts";
import type { WorkerDetail } from "../../../protocol/records/worker.ts";
import { adapterOf } from "../../../vendors/index.ts";
import { callDaemon } from "../call.ts";
import { targetOf } from "../here.ts";

/** Fetches a worker of the current project; null where there is none of that name. */
export async function knownWorker(name: string): Promise<WorkerDetail | null> {
  try {
    return await callDaemon("show", { target: targetOf(name) });
  } catch (error) {
    if (isPerdureError(error) && ["not-found", "usage"].includes(error.code)) return null;
    throw error;
  }
}

/** Says in the words of a fleet file what a worker runs; null where that takes words that only a person can give. */
export function storedEntry({ vendor, command }: Pick<WorkerDetail, "vendor" | "command">): WorkerEntry | null {
  if (vendor === null) return command === null ? null : { command };
  const own = adapterOf(vendor)?.command ?? [];
  if (own.length === 0) return null;
  const isOwn = command !== null && own.every((word, at) => command[at] === word);
  const args = isOwn ? command.slice(own.length) : [];
  // Another program of the vendor's is found by its command line.
  return command === null || isOwn ? { vendor, ...(args.length > 0 && { args }) } : { command };
}

/** Returns `addCommand` of the worker with this name; null where there is no such worker. */
export async function addCommandOf(name: string): Promise<string | null> {
  const worker = await knownWorker(name);
  return worker && addCommand(worker);
}

/** Returns the command that adds a worker which is there already to the fleet file, and brings it up; null where there is none. */
export function addCommand(worker: Pick<WorkerDetail, "name" | "vendor" | "command">): string | null {
  const entry = storedEntry(worker);
  if (entry === null) return null;
  const { vendor, args = [], command = args } = entry;
  const rest = command.length > 0 ? ["--", ...command] : [];
  return commandText(verb("up", worker.name, ...(vendor === undefined ? [] : ["--vendor", vendor]), ...rest));
}
