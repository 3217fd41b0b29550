import { isPerdureError } from "../../protocol/errors.ts";
import { readSettingsAt, type Settings } from "./read.ts";

/** Returns the `[mail]` settings of a project; the defaults while its file has a mistake, which is reported by who uses the file. */
export function mailSettingsAt(root: string): NonNullable<Settings["mail"]> {
  try {
    return readSettingsAt(root)?.mail ?? {};
  } catch (error) {
    if (isPerdureError(error)) return {};
    throw error;
  }
}
