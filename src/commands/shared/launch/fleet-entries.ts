import { existsSync } from "node:fs";
import { join } from "node:path";
import { readConfigAt } from "../../../project/config/read.ts";
import { CONFIG_FILE, fleetRoot, type FoundProject } from "../../../project/find.ts";
import { fleetError, readFleet, type Fleet, type FleetWorker } from "../../../project/fleet/read.ts";
import type { FleetEntry } from "../../../protocol/calls/index.ts";
import type { GivenEnvironment } from "../../../protocol/records/environment.ts";
import { PerdureError } from "../../../protocol/errors.ts";
import { nameKey, nearest } from "../../../protocol/names.ts";
import { shellWords } from "../../../util/shell-quote.ts";
import { inheritedFrom } from "../../../runtime/wrapper/exec.ts";
import { adapterOf, unknownVendor } from "../../../vendors/index.ts";
import { callDaemon } from "../call.ts";
import { environmentHere } from "./environment-here.ts";
import { matchVendor } from "./launch.ts";
import { projectRefHere } from "../here.ts";
import type { Output } from "../output.ts";

// Turns the workers of the fleet file into the entries that the daemon is asked to keep running.

/**
 * Reads the fleet of a project, or throws. The daemon is asked for the slug that its prompts may mention, because two
 * folders called `api` have different slugs.
 */
export async function requireFleet(found: FoundProject): Promise<Fleet> {
  const fleet = readFleet(found, (await callDaemon("showProject", { here: projectRefHere(found) })).slug);
  if (fleet !== null) return fleet;
  const file = join(fleetRoot(found), CONFIG_FILE);
  throw new PerdureError("not-found", `There is no perdure.toml with workers in ${found.root}.`, {
    hint: existsSync(file)
      ? `add one to ${file}: [workers.coder]`
      : "in one line: perdure up NAME -- COMMAND; with what is found here: perdure init; in this terminal, without a fleet: perdure run NAME -- COMMAND",
  });
}

/** Returns the workers with these names, or of the entries with these names, which may be several each; all without names. */
export function selectWorkers(fleet: Fleet, names: readonly string[]): FleetWorker[] {
  if (names.length === 0) return fleet.workers;
  const selected = names.flatMap((requested) => {
    const key = nameKey(requested);
    const found = fleet.workers.filter(({ name, entry }) => nameKey(name) === key || nameKey(entry) === key);
    if (found.length === 0) throw unknownWorker(fleet, requested);
    return found;
  });
  return [...new Set(selected)];
}

function unknownWorker({ file, workers }: Fleet, requested: string): PerdureError {
  const [near] = nearest(
    requested,
    workers.flatMap(({ name, entry }) => [name, entry]),
  );
  return new PerdureError("not-found", `${file} has no worker ${JSON.stringify(requested)}.`, {
    hint: near
      ? `did you mean ${near}?`
      : `it has ${workers.map(({ name }) => name).join(", ")}; a new one: ${shellWords(["perdure", "up", requested, "--", "COMMAND"])}`,
  });
}

/** Returns the environment for all workers of a fleet: the trusted file names variables, not the one in the caller's tree. */
export function fleetEnvironment(fleet: Fleet, out: Output): Omit<GivenEnvironment, "own"> {
  return environmentHere(readConfigAt(fleet.root) ?? {}, out);
}

/** Builds the daemon's entry of a worker, without the environment that all workers of a call have in common. */
export function toFleetEntry(worker: FleetWorker, fleet: Fleet): FleetEntry {
  const { openFiles } = inheritedFrom(process.env);
  const { name, cwd, group, restart, prompt, about, mode, turnsFrom, activate } = worker;
  return {
    name,
    ...entryCommand(worker, fleet),
    cwd,
    environment: {},
    own: worker.env,
    group,
    restart,
    prompt,
    openFiles,
    // A daemon of an earlier version does not know these words.
    ...(about === null ? {} : { about }),
    ...(mode === "turn" && { mode, activate, ...(turnsFrom !== null && { turnsFrom }) }),
  };
}

function entryCommand(
  { entry, vendor, command, args, declared, cwd }: FleetWorker,
  fleet: Fleet,
): Pick<FleetEntry, "command" | "vendor"> {
  if (vendor === null) {
    const words = [...(command ?? []), ...args];
    return { command: words, vendor: matchVendor(words, cwd) };
  }
  const adapter = adapterOf(vendor);
  if (adapter === null) throw unknownEntryVendor(fleet, entry, vendor);
  if (declared !== null)
    return { command: [...(command ?? []), ...args], vendor: { name: vendor, programAt: 0, declared } };
  const words = command ?? adapter.command;
  return { command: [...words, ...args], vendor: { name: vendor, programAt: words.length - 1 } };
}

function unknownEntryVendor(fleet: Fleet, entry: string, vendor: string): Error {
  const { message, hint } = unknownVendor(vendor, 'any other program: command = ["…"]');
  return fleetError(fleet, entry, "vendor", `: ${message.replace(/^T/, "t")}`, hint ?? "");
}
