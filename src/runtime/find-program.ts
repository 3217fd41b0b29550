import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { statIfThere } from "../state/files.ts";

/** Finds the absolute path that a shell would run for this word, or the reason why there is none. */
export function findProgram(
  word: string,
  path: string | undefined,
  cwd: string,
): { file: string } | { missing: string } {
  if (word === "") return { missing: "the program's name is empty" };
  if (word.includes("/")) {
    const file = isAbsolute(word) ? word : resolve(cwd, word);
    return isProgram(file) ? { file } : { missing: `${file} ${exists(file) ? "is not executable" : "does not exist"}` };
  }
  for (const folder of (path || "/usr/local/bin:/usr/bin:/bin").split(delimiter)) {
    const file = resolve(cwd, join(folder || ".", word));
    if (isProgram(file)) return { file };
  }
  return { missing: `${word} is not on PATH` };
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false; // it does not exist or may not be run: either way it is not this one
  }
}

function exists(file: string): boolean {
  return statIfThere(file) !== undefined;
}
