import { identify, pinnedTarget, type Caller } from "../client/identity.ts";
import { isNested } from "../launch/nesting.ts";
import { readProjectSettings } from "../project/config/read.ts";
import { findProject, type FoundProject } from "../project/find.ts";
import type { Identity } from "../project/whoami.ts";
import type { ProjectRef, Target } from "../protocol/calls/index.ts";
import { PerdureError } from "../protocol/errors.ts";
import { parseAddress } from "../protocol/names.ts";
import { processTable } from "../runtime/process/index.ts";
import { isErrno } from "../state/files.ts";
import { statePaths } from "../state/paths.ts";
import { tokenFor } from "../client/token.ts";
import { requireOptions, requireText } from "./require.ts";
import { variableOf, type Environment } from "../util/environment.ts";

export type { Identity };

/**
 * The folder and the environment that a program speaks from: what a bare name means there, and who the program is.
 * @internal
 */
export class Surroundings {
  readonly env: Environment;
  readonly cwd: string;
  readonly here: ProjectRef;

  constructor({ env = process.env, cwd = process.cwd() }: { env?: Environment | undefined; cwd?: string | undefined }) {
    this.env = requireOptions(env);
    this.cwd = requireText("cwd", cwd);
    this.here = projectRefOf(cwd);
  }

  /** The project of the run that this process is part of: there, bare names belong to it, as on the command line. */
  get project(): string | null {
    return variableOf(this.env, "PERDURE_PROJECT");
  }

  /** Whether this process has the token of a run, and so acts as its worker. */
  get isWorker(): boolean {
    return tokenFor(this.env, statePaths(this.env).socket) !== null;
  }

  /** Whether this process belongs to an agent that a run's own agent has started. */
  get isNested(): boolean {
    const run = variableOf(this.env, "PERDURE_RUN");
    return run !== null && isNested(processTable(), process.pid, run);
  }

  target(text: string, here = this.here): Target {
    const { project, name } = parseAddress(requireText("the worker's name", text));
    return { project: project ?? this.project, name, here };
  }

  identity(as: string | null = null): Identity {
    return identify(this.#caller(), as === null ? null : requireText("the name", as));
  }

  /** Returns the worker that is meant where none is named; null if nothing says which. */
  pinned(): Target | null {
    const caller = this.#caller();
    return pinnedTarget(identify(caller), caller, this.here);
  }

  #caller(): Caller {
    return { env: this.env, pid: process.pid, findProject: () => projectAt(this.cwd) };
  }
}

/** @internal */
export function projectRefOf(cwd: string): ProjectRef {
  const found = projectAt(cwd);
  return { identity: found.identity, root: found.root, base: readProjectSettings(found).project ?? found.base };
}

function projectAt(cwd: string): FoundProject {
  try {
    return findProject(cwd);
  } catch (error) {
    if (!isErrno(error, "ENOENT")) throw error;
    throw new PerdureError("not-found", `There is no folder ${cwd}.`, { hint: "give cwd a folder that exists" });
  }
}
