import type { FoundProject } from "../../project/find.ts";
import { nameKey } from "../../protocol/names.ts";
import { startsBy } from "../../protocol/start-command.ts";
import { declaredHere } from "./here.ts";

/** The command that starts it here: one that the fleet file names comes up with its fleet. */
export function startOf(found: FoundProject, name: string): string {
  const isDeclared = declaredHere(found).some((worker) => nameKey(worker.name) === nameKey(name));
  return startsBy(name, isDeclared);
}
