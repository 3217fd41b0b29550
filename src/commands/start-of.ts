import type { FoundProject } from "../project/find.ts";
import { declaredWorkers } from "../project/fleet-names.ts";
import { isPerdureError } from "../protocol/errors.ts";
import { nameKey } from "../protocol/names.ts";

/** The command that starts it here: one that the fleet file names comes up with its fleet. */
export function startOf(found: FoundProject, name: string): string {
  return `perdure ${isDeclared(found, name) ? "up" : "run"} ${name}`;
}

function isDeclared(found: FoundProject, name: string): boolean {
  try {
    return declaredWorkers(found).some((worker) => nameKey(worker.name) === nameKey(name));
  } catch (error) {
    if (isPerdureError(error)) return false; // whoever uses the file is told what is wrong with it
    throw error;
  }
}
