import { isPerdureError } from "../../protocol/errors.ts";
import type { FoundProject } from "../find.ts";
import { readProjectSettings, readSettingsAt, type Settings } from "./read.ts";

// For those who go on while a project's file has a mistake, which is reported by who needs the rest of the file.

/** Returns the settings of a project's folder; none while its file has a mistake. */
export function lenientSettingsAt(root: string): Settings {
  return orNone(() => readSettingsAt(root));
}

/** Returns the settings of the project that a caller stands in; none while its file has a mistake. */
export function lenientSettings(found: FoundProject): Settings {
  return orNone(() => readProjectSettings(found));
}

function orNone(read: () => Settings | null): Settings {
  try {
    return read() ?? {};
  } catch (error) {
    if (isPerdureError(error)) return {};
    throw error;
  }
}
