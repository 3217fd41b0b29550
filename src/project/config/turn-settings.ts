import { PROJECT_TURNS_PER_HOUR, TURN_TIMEOUT_MS, TURNS_AT_ONCE, TURNS_PER_HOUR } from "../../limits/index.ts";
import { isPerdureError } from "../../protocol/errors.ts";
import { userConfigFile } from "../../state/paths.ts";
import { durationMs } from "../../util/duration.ts";
import type { Environment } from "../../util/environment.ts";
import { readSettingsAt, readUserSettings } from "./read.ts";

/** The table as it is written. */
interface TurnsTable {
  at_once?: number;
  per_hour?: number;
  project_per_hour?: number;
  timeout?: string;
}

/** The bounds of the turns of one project. */
export interface TurnSettings {
  /** Turns at the same time: of all projects, and of this one. */
  atOnce: { all: number; project: number };
  perHour: { worker: number; project: number };
  timeoutMs: number;
}

/** Returns the settings of a project; the defaults for a file while it has a mistake, which is reported by who uses the file. */
export function turnSettingsAt(root: string, env: Environment): TurnSettings {
  const own = tableOf(() => readSettingsAt(root)?.turns);
  const users = tableOf(() => readUserSettings(userConfigFile(env)).turns);
  const all = users.at_once ?? TURNS_AT_ONCE;
  return {
    atOnce: { all, project: Math.min(own.at_once ?? all, all) },
    perHour: {
      worker: own.per_hour ?? users.per_hour ?? TURNS_PER_HOUR,
      project: own.project_per_hour ?? users.project_per_hour ?? PROJECT_TURNS_PER_HOUR,
    },
    timeoutMs: durationMs(own.timeout ?? users.timeout ?? "") ?? TURN_TIMEOUT_MS,
  };
}

function tableOf(read: () => TurnsTable | undefined): TurnsTable {
  try {
    return read() ?? {};
  } catch (error) {
    if (isPerdureError(error)) return {};
    throw error;
  }
}
