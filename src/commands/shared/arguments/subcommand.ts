import { PerdureError } from "../../../protocol/errors.ts";
import { nearest } from "../../../protocol/names.ts";
import { own } from "../../../util/own.ts";

/** Returns the action of a verb that has several (`daemon stop`), or throws with the nearest name. */
export function subcommand<T>(verb: string, actions: Readonly<Record<string, T>>, word: string): T {
  const action = own(actions, word);
  if (action !== undefined) return action;
  const [near] = nearest(word, Object.keys(actions));
  throw new PerdureError("usage", `${verb}: there is no subcommand ${JSON.stringify(word)}.`, {
    hint: near ? `did you mean: perdure ${verb} ${near}?` : `perdure ${verb} ${Object.keys(actions).join(" | ")}`,
  });
}
