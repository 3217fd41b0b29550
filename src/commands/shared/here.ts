import type { Caller } from "../../client/identity.ts";
import { readProjectSettings } from "../../project/config/read.ts";
import { findProject, type FoundProject } from "../../project/find.ts";
import { declaredWorkers, type DeclaredWorker } from "../../project/fleet/names.ts";
import type { ProjectRef, Target } from "../../protocol/calls/index.ts";
import { isPerdureError, PerdureError } from "../../protocol/errors.ts";
import { commandText, startVerb } from "../../protocol/hint.ts";
import { nameKey, parseAddress } from "../../protocol/names.ts";
import { isErrno } from "../../state/files.ts";
import { variableOf } from "../../util/environment.ts";

/** Finds the project of the current folder. */
export function findProjectHere(): FoundProject {
  try {
    return findProject(process.cwd());
  } catch (error) {
    if (!isErrno(error, "ENOENT")) throw error;
    throw new PerdureError("not-found", "The current folder no longer exists.", { hint: "cd to one that does" });
  }
}

/** Says that another user's repository or fleet file above does not count; null where there is none. */
export function passedOverNote({ passedOver, here }: FoundProject): string | null {
  if (passedOver === undefined) return null;
  const { file, uid } = passedOver;
  return `${file} belongs to another user (uid ${uid}), so the project here is ${here} alone`;
}

/** Refers to the project of the current folder, also when a mistake in perdure.toml hides the slug it asks for. */
export function projectRefHere(found = findProjectHere()): ProjectRef {
  const { identity, root, base } = found;
  try {
    return { identity, root, base: readProjectSettings(found).project ?? base };
  } catch (error) {
    if (!isPerdureError(error)) throw error;
    // A registered project is found by its identity. Verbs that need the rest of the file read it themselves and throw.
    tolerated = error;
    return { identity, root, base, guessed: true };
  }
}

/** Module state, because a process runs one verb, and the error would have to pass through every caller of `projectRefHere`. */
let tolerated: PerdureError | null = null;

/** Returns the mistake in perdure.toml that `projectRefHere` could do without; null if there was none. */
export function toleratedConfigError(): PerdureError | null {
  return tolerated;
}

/** Lists the workers that the fleet file declares; none while the file cannot be read. */
export function declaredWorkersHere(found: FoundProject): DeclaredWorker[] {
  try {
    return declaredWorkers(found);
  } catch (error) {
    if (isPerdureError(error)) return [];
    throw error;
  }
}

/** Returns the command that starts a worker: `up` for one that the fleet file declares, else `run`. */
export function startCommandHere(found: FoundProject, name: string): string {
  return commandText(startVerb(name, isDeclaredHere(found, name)));
}

export function isDeclaredHere(found: FoundProject, name: string): boolean {
  return declaredWorkersHere(found).some((worker) => nameKey(worker.name) === nameKey(name));
}

/** Parses a worker's name or address. Inside a run a bare name belongs to the run's project, whatever the current folder is. */
export function targetOf(text: string, here = projectRefHere()): Target {
  const { project, name } = parseAddress(text);
  return { project: project ?? projectOfRun(), name, here };
}

/** Returns the slug of the project whose run this process is part of; null outside a run. */
export function projectOfRun(): string | null {
  return variableOf(process.env, "PERDURE_PROJECT");
}

/** Describes this process to `identify`. */
export function callerHere(found?: FoundProject): Caller {
  const find = found === undefined ? findProjectHere : (): FoundProject => found;
  return { env: process.env, pid: process.ppid, findProject: find };
}
