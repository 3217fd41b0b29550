import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Environment } from "../../util/environment.ts";

/** A start, as far as variables, options and settings decide whether its conversation is recorded. */
export interface RecordingContext {
  args: readonly string[];
  /** The folder the program is started in, whose own settings count. */
  cwd: string;
  configDir: string;
  /** The program's variables, with those that its command assigns. */
  environment: Environment;
  /** The folder of the machine's own settings, `/etc`; tests have another. */
  etc?: string;
}

/** Something that keeps a conversation from being recorded: a variable or a setting, with its value, and where it is. */
export interface RecordingOff {
  setting: string;
  place: string;
}

export const ENVIRONMENT = "the environment";

/** Returns the repository that a folder is in; null where it is in none. */
export function gitRootOf(folder: string): string | null {
  if (existsSync(join(folder, ".git"))) return folder;
  return dirname(folder) === folder ? null : gitRootOf(dirname(folder));
}
