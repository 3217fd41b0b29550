import { existsSync } from "node:fs";
import { join } from "node:path";
import { readConfigAt } from "../../project/config/read.ts";
import { CONFIG_FILE, fleetRoot, type FoundProject } from "../../project/find.ts";
import { fleetError, readFleet, type Fleet, type FleetWorker } from "../../project/fleet/read.ts";
import type { CallParams, FleetEntry } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { nameKey, nearest } from "../../protocol/names.ts";
import { sha256 } from "../../util/sha256.ts";
import { recordedEnvironment } from "../../launch/environment.ts";
import { inheritedFrom } from "../../runtime/wrapper/exec.ts";
import { adapterNames, adapterOf } from "../../vendors/index.ts";
import { callDaemon } from "./call.ts";
import { matchVendor } from "./launch.ts";
import { projectRefHere } from "./here.ts";

// From the fleet file to what the daemon is asked to keep running.

/** With the project's real name in its prompts: two folders called `api` have two. */
export async function requireFleet(found: FoundProject): Promise<Fleet> {
  const fleet = readFleet(found, (await callDaemon("showProject", { here: projectRefHere(found) })).slug);
  if (fleet !== null) return fleet;
  const file = join(fleetRoot(found), CONFIG_FILE);
  throw new PerdureError("not-found", `There is no perdure.toml with workers in ${found.root}.`, {
    hint: existsSync(file)
      ? `add one to ${file}: [workers.coder]`
      : "perdure init writes one; a single worker starts without: perdure run NAME -- COMMAND",
  });
}

/** Those named by their own name, or by their entry's, which may stand for several. Without words, all. */
export function selectWorkers(fleet: Fleet, words: readonly string[]): FleetWorker[] {
  if (words.length === 0) return fleet.workers;
  const picked = words.flatMap((word) => {
    const key = nameKey(word);
    const found = fleet.workers.filter(({ name, entry }) => nameKey(name) === key || nameKey(entry) === key);
    if (found.length === 0) throw unknownWorker(fleet, word);
    return found;
  });
  return [...new Set(picked)];
}

function unknownWorker({ file, workers }: Fleet, word: string): PerdureError {
  const [near] = nearest(
    word,
    workers.flatMap(({ name, entry }) => [name, entry]),
  );
  return new PerdureError("not-found", `${file} names no worker ${JSON.stringify(word)}.`, {
    hint: near ? `did you mean ${near}?` : `it names ${workers.map(({ name }) => name).join(", ")}`,
  });
}

/** What the operator agrees to: the file, and what its prompts make an agent do first. */
export function trustedContent({ text, workers }: Fleet): Pick<CallParams<"up">, "text" | "prompts"> {
  const told = workers.filter(({ prompt }) => prompt !== null);
  return {
    text,
    prompts: JSON.stringify(Object.fromEntries(told.map(({ name, prompt }) => [name, sha256(prompt ?? "")]))),
  };
}

/** Which variables are recorded, the trusted file says, not the one of the tree one stands in. */
export function toFleetEntry(worker: FleetWorker, fleet: Fleet): FleetEntry {
  const recorded = recordedEnvironment(process.env, readConfigAt(fleet.root)?.policy?.environment ?? []);
  const { openFiles } = inheritedFrom(process.env);
  const { name, cwd, group, restart, prompt } = worker;
  return {
    name,
    ...entryCommand(worker, fleet),
    cwd,
    environment: { ...recorded, ...worker.env },
    group,
    restart,
    prompt,
    openFiles,
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
  if (adapter === null) throw unknownVendor(fleet, entry, vendor);
  if (declared !== null)
    return { command: [...(command ?? []), ...args], vendor: { name: vendor, programAt: 0, declared } };
  const words = command ?? adapter.command;
  return { command: [...words, ...args], vendor: { name: vendor, programAt: words.length - 1 } };
}

function unknownVendor(fleet: Fleet, entry: string, vendor: string): Error {
  const [near] = nearest(vendor, adapterNames());
  const known = `known: ${adapterNames().join(", ")}; any other program: command = ["…"]`;
  const said = `: there is no vendor ${JSON.stringify(vendor)}.`;
  return fleetError(fleet, entry, "vendor", said, near ? `did you mean ${near}?` : known);
}
