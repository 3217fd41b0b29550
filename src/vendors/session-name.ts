import { isName } from "../protocol/names.ts";
import type { Environment } from "../util/environment.ts";
import { VENDOR_PROGRAMS } from "./programs.ts";

/** Returns the name that its user gave to the surrounding vendor session (rule 4 of `whoami`), if it is a legal one. */
export function sessionName(env: Environment): string | null {
  for (const program of VENDOR_PROGRAMS) {
    const name = program.sessionName?.(env) ?? null;
    if (name !== null && isName(name)) return name;
  }
  return null;
}
