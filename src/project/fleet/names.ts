import { FLEET_WORKERS_MAX } from "../../limits/index.ts";
import { checkName, nameKey } from "../../protocol/names.ts";
import { fieldsOf } from "../../util/fields.ts";
import { readConfigAt, readSettingsAt, type Config, type WorkerEntry } from "../config/read.ts";
import { fleetRoot, type FoundProject } from "../find.ts";
import { atLine, configError, type ConfigSource } from "../config/errors.ts";

/** A worker as the fleet file declares it; the entry has its name, or makes several with a count. */
export interface DeclaredWorker {
  name: string;
  entry: string;
  group: string | null;
}

/** Lists the workers that the fleet file declares: they have mailboxes before they ever ran. */
export function declaredWorkers(found: FoundProject): DeclaredWorker[] {
  const { defaults = {}, workers = {} } = readConfigAt(fleetRoot(found)) ?? {};
  return Object.entries(workers).flatMap(([entry, own]) =>
    workerNames(entry, own).map((name) => ({ name, entry, group: own.group ?? defaults.group ?? null })),
  );
}

/**
 * Returns the keys of the names that the perdure.toml of this folder declares, without judging anything else of it. Throws for
 * a file that is no TOML.
 */
export function declaredNameKeys(folder: string): Set<string> {
  const { workers } = (readSettingsAt(folder) ?? {}) as { workers?: unknown };
  return new Set(
    Object.entries(fieldsOf(workers)).flatMap(([entry, own]) => {
      const { count } = fieldsOf(own);
      const isCount = typeof count === "number" && Number.isInteger(count) && count >= 1 && count <= FLEET_WORKERS_MAX;
      return workerNames(entry, isCount ? { count } : {}).map(nameKey);
    }),
  );
}

/** Returns `coder` for one worker, `coder-1` to `coder-n` for several. */
function workerNames(entry: string, { count = 1 }: Pick<WorkerEntry, "count">): string[] {
  return count === 1 ? [entry] : Array.from({ length: count }, (_, at) => `${entry}-${at + 1}`);
}

/** Returns the worker names of each entry; throws at one that is not legal or not unique. */
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
  throw configError(source, ["workers"], `${makers.size} workers exceed the limit of ${FLEET_WORKERS_MAX}.`);
}

function duplicateName(source: ConfigSource, entry: string, other: string, name: string): Error {
  const message = `workers.${entry} and workers.${other} both make a worker ${name} (case is ignored).`;
  return configError(source, ["workers", entry], message, "rename one of the two");
}
