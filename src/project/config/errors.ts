import { isPerdureError, PerdureError } from "../../protocol/errors.ts";
import type * as Positions from "./positions.ts";

declare const PERDURE_VERSION: string | undefined;

/** A configuration file: its name as a person would type it, and its text, in which errors are placed. */
export interface ConfigSource {
  file: string;
  text: string;
}

/** An error of the file: where, what, and what to do about it. */
export function configError(
  source: ConfigSource,
  path: readonly (string | number)[],
  message: string,
  hint = `edit ${source.file}`,
): PerdureError {
  return new PerdureError("usage", `${source.file}:${loadLineFinder(source)(path)}: ${message}`, { hint });
}

/** Runs a check whose error knows nothing of the file, and places that error at the line of a key. */
export function atLine<T>(source: ConfigSource, path: readonly string[], check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!isPerdureError(error)) throw error;
    throw configError(source, path, error.message, error.hint ?? undefined);
  }
}

/** Finds the line that sets a key. The parser that knows is loaded for an error only: the one that reads every file keeps no positions. */
export function loadLineFinder({ text }: ConfigSource): ReturnType<typeof Positions.lineFinder> {
  const loaded: unknown =
    typeof PERDURE_VERSION === "string"
      ? require("./positions.ts")
      : process.getBuiltinModule("node:module").createRequire(import.meta.filename)("./positions.ts");
  return (loaded as typeof Positions).lineFinder(text);
}
