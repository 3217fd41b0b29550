import { sha256 } from "../util/sha256.ts";

const UNCHANGED = /^[a-z0-9][a-z0-9._-]{0,99}$/;

/**
 * The file name of an id that somebody else chose. Different ids get different names, on file systems that
 * ignore case too: an id that is left as it is has no upper case and no `~`; every other one carries a hash.
 */
export function fileNameOf(id: string): string {
  if (UNCHANGED.test(id) && !id.includes("..")) return id;
  const readable = id.replace(/[^A-Za-z0-9._-]/g, "").slice(0, 80);
  return `${readable}~${sha256(wellFormed(id)).slice(0, 10)}`;
}

/** Escapes half surrogate pairs, which have no UTF-8 and would all hash alike. */
function wellFormed(id: string): string {
  return id.isWellFormed() ? id : `\0${JSON.stringify(id)}`;
}
