import { NAME_CHARS_MAX } from "../limits/index.ts";
import { nameKey } from "../protocol/names.ts";
import { sha256 } from "../util/sha256.ts";

/**
 * Chooses the slug of a project on this machine. The first folder of a name gets the bare name; the next one gets four hex
 * digits of its identity appended (more, if those are taken too), so they never share names or mail.
 */
export function chooseSlug(base: string, identity: string, taken: (slug: string) => boolean): string {
  if (!taken(nameKey(base))) return base;
  const hash = sha256(identity);
  for (let digits = 4; digits <= 40; digits += 4) {
    const slug = `${base.slice(0, NAME_CHARS_MAX - 1 - digits)}-${hash.slice(0, digits)}`;
    if (!taken(nameKey(slug))) return slug;
  }
  throw new Error(`no free slug for ${base}`);
}
