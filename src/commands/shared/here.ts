import { readProjectConfig } from "../../project/config/read.ts";
import { findProject, type FoundProject } from "../../project/find.ts";
import { declaredWorkers } from "../../project/fleet/names.ts";
import type { ProjectRef, Target } from "../../protocol/calls/index.ts";
import { isPerdureError, PerdureError } from "../../protocol/errors.ts";
import { nameKey, parseAddress, startCommand } from "../../protocol/names.ts";
import { isErrno } from "../../state/files.ts";

/** The folder a command was called from; gone when somebody removed it under the shell. */
export function findProjectHere(): FoundProject {
  try {
    return findProject(process.cwd());
  } catch (error) {
    if (!isErrno(error, "ENOENT")) throw error;
    throw new PerdureError("not-found", "The folder this shell stands in no longer exists.", {
      hint: "cd to one that does",
    });
  }
}

export function projectRefHere(found = findProjectHere()): ProjectRef {
  const { identity, root, base } = found;
  try {
    return { identity, root, base: readProjectConfig(found).project ?? base };
  } catch (error) {
    if (!isPerdureError(error)) throw error;
    // A project that is known goes by what it is. Those who use the rest of the file read it themselves.
    ignored = error;
    return { identity, root, base, guessed: true };
  }
}

let ignored: PerdureError | null = null;

/** What is wrong with the project's file, if nothing but the project's name was wanted of it. */
export function ignoredHere(): PerdureError | null {
  return ignored;
}

/** The workers that the fleet file names; none while it cannot be read. */
export function declaredWorkersHere(found: FoundProject): { name: string; group: string | null }[] {
  try {
    return declaredWorkers(found);
  } catch (error) {
    if (isPerdureError(error)) return [];
    throw error;
  }
}

/** The command that starts a worker from here: one that the fleet file declares comes up with its fleet. */
export function startCommandHere(found: FoundProject, name: string): string {
  const isDeclared = declaredWorkersHere(found).some((worker) => nameKey(worker.name) === nameKey(name));
  return startCommand(name, isDeclared);
}

/** A worker as typed. Inside a run a bare name means a worker of the run's own project, wherever it has `cd`ed. */
export function targetOf(text: string, here = projectRefHere()): Target {
  const { project, name } = parseAddress(text);
  return { project: project ?? projectOfRun(), name, here };
}

export function projectOfRun(): string | null {
  return process.env.PERDURE_PROJECT || null;
}
