import { FLEET_WORKERS_MAX } from "../../limits/index.ts";
import { checkName, nameKey } from "../../protocol/names.ts";
import { readConfigAt, type Config, type WorkerEntry } from "../config/read.ts";
import { fleetRoot, type FoundProject } from "../find.ts";
import { atLine, configError, type ConfigSource } from "../config/shape.ts";

/** The workers that the fleet file declares, whatever else it says of them: they have boxes before they ever ran. */
export function declaredWorkers(found: FoundProject): { name: string; group: string | null }[] {
  const { defaults = {}, workers = {} } = readConfigAt(fleetRoot(found)) ?? {};
  return Object.entries(workers).flatMap(([entry, own]) =>
    workerNames(entry, own).map((name) => ({ name, group: own.group ?? defaults.group ?? null })),
  );
}

/** `coder`, or `coder-1` to `coder-n`. One of a kind keeps the plain name. */
function workerNames(entry: string, { count = 1 }: WorkerEntry): string[] {
  return count === 1 ? [entry] : Array.from({ length: count }, (_, at) => `${entry}-${at + 1}`);
}

/** The names each entry makes; all of them legal, and no two the same. */
export function fleetNames({ workers = {} }: Config, source: ConfigSource): Map<string, string[]> {
  const makers = new Map<string, string>();
  const names = new Map<string, string[]>();
  for (const [entry, own] of Object.entries(workers)) {
    const made = workerNames(entry, own);
    for (const name of made) {
      const path = ["workers", entry];
      atLine(source, path, () => checkName(name));
      const other = makers.get(nameKey(name));
      if (other !== undefined) throw duplicateName(source, entry, other, name);
      makers.set(nameKey(name), entry);
    }
    names.set(entry, made);
  }
  if (makers.size <= FLEET_WORKERS_MAX) return names;
  throw configError(source, ["workers"], `${makers.size} workers are too many: at most ${FLEET_WORKERS_MAX}.`);
}

function duplicateName(source: ConfigSource, entry: string, other: string, name: string): Error {
  const message = `workers.${entry} makes ${name}, a name that workers.${other} makes too (case is ignored).`;
  return configError(source, ["workers", entry], message, "give one of the two another name");
}
