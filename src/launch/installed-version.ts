import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { PACKAGE_FILE_BYTES_MAX, PACKAGE_LEVELS_MAX } from "../limits/index.ts";
import { readIfReadable } from "../state/bounded-read.ts";
import { isErrno } from "../state/files.ts";

/** Reads the version of an installed program from its path or package, without starting it; null when neither tells. */
export function installedVersion(program: string): string | null {
  const file = realProgram(program);
  if (file === null) return null;
  // A native install keeps its versions side by side: …/versions/2.1.325
  const [, beside] = /\/versions\/v?(\d+\.\d+\.\d+)(?:\/|$)/.exec(file) ?? [];
  if (beside !== undefined) return beside;
  let folder = dirname(file);
  for (
    let level = 0;
    level < PACKAGE_LEVELS_MAX && basename(folder) !== "node_modules" && folder !== dirname(folder);
    level++
  ) {
    const version = packageVersion(readIfReadable(join(folder, "package.json"), PACKAGE_FILE_BYTES_MAX));
    if (version !== null) return version;
    folder = dirname(folder);
  }
  return null;
}

function realProgram(program: string): string | null {
  try {
    return realpathSync(program);
  } catch (error) {
    if (isErrno(error, "ENOENT", "EACCES", "ELOOP")) return null;
    throw error;
  }
}

/** Reads the version of a package.json; native packages append their platform: `0.166.0-linux-x64`. */
function packageVersion(text: string): string | null {
  return /"version"\s*:\s*"(\d+\.\d+\.\d+)[^"]*"/.exec(text)?.[1] ?? null;
}
