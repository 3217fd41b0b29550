import { readProjectConfig } from "../project/config.ts";
import { findProject, type FoundProject } from "../project/find.ts";
import type { Place, Target } from "../protocol/calls.ts";
import { PerdureError } from "../protocol/errors.ts";
import { parseAddress } from "../protocol/names.ts";
import { isErrno } from "../state/files.ts";

/** The folder a command was called from; gone when somebody removed it under the shell. */
export function foundHere(): FoundProject {
  try {
    return findProject(process.cwd());
  } catch (error) {
    if (!isErrno(error, "ENOENT")) throw error;
    throw new PerdureError("not-found", "The folder this shell stands in no longer exists.", {
      hint: "cd to one that does",
    });
  }
}

export function placeHere(found = foundHere()): Place {
  return { identity: found.identity, root: found.root, base: readProjectConfig(found).project ?? found.base };
}

/** A worker as typed. Inside a run a bare name means a worker of the run's own project, wherever it has `cd`ed. */
export function targetOf(text: string, here = placeHere()): Target {
  const { project, name } = parseAddress(text);
  return { project: project ?? ownProject(), name, here };
}

export function ownProject(): string | null {
  return process.env.PERDURE_PROJECT || null;
}
