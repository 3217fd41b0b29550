import { PerdureError } from "../../../protocol/errors.ts";
import { verb } from "../../../protocol/hint.ts";
import { nameKey } from "../../../protocol/names.ts";
import { declaredWorkersHere, findProjectHere, projectOfRun } from "../here.ts";

/**
 * Returns the error about an unknown worker as it is, or with `up` as the next step where perdure.toml declares the worker. The daemon
 * does not read that file for a question.
 */
export function declaredHint(error: PerdureError): PerdureError {
  const unknown = String(error.details?.unknown);
  if (projectOfRun() !== null) return error;
  const declared = declaredWorkersHere(findProjectHere()).find(({ name }) => nameKey(name) === nameKey(unknown));
  if (declared === undefined) return error;
  return new PerdureError(error.code, `${declared.name} is in perdure.toml, and was never up.`, {
    hint: verb("up", declared.name),
    details: error.details,
    cause: error,
  });
}
