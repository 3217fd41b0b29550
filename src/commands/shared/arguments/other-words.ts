import { own } from "../../../util/own.ts";
import { declaredWorkersHere, findProjectHere } from "../here.ts";
import { isPerdureError } from "../../../protocol/errors.ts";
import { nameKey } from "../../../protocol/names.ts";

// Words that people type for a verb that has another name here. They are in no list of verbs, so that nobody learns two.

/** Words with one obvious meaning, which does no harm. */
const SAME_AS: Readonly<Record<string, string>> = { list: "ls", status: "ls", ps: "ls", open: "attach" };

const ADDING =
  "a new worker of the fleet: perdure up NAME -- COMMAND; one in this terminal: perdure run NAME -- COMMAND; several: perdure init";

/** Words that may mean several verbs, or one that ends something: the verb is named, and its user types it. */
const ADVICE: Readonly<Record<string, string>> = {
  start: "a worker of perdure.toml: perdure up NAME; any other: perdure run NAME",
  resume:
    "a worker of perdure.toml: perdure up NAME; any other: perdure run NAME; a saved session: perdure up --resume S",
  new: ADDING,
  add: ADDING,
  create: ADDING,
  rm: "to end a worker for good: perdure retire NAME; to stop it, and keep it: perdure stop NAME",
  remove: "to end a worker for good: perdure retire NAME; to stop it, and keep it: perdure stop NAME",
  delete: "to end a worker for good: perdure retire NAME; to stop it, and keep it: perdure stop NAME",
  kill: "to stop a worker: perdure stop NAME (TERM, later KILL); to stop all: perdure down",
};

/** Returns the verb that a word stands for; null for a word that stands for none. */
export function otherWordVerb(word: string | undefined): string | null {
  if (word === undefined) return null;
  return word === "start" || word === "resume" ? startingVerb() : (own(SAME_AS, word) ?? null);
}

/** Returns which verbs a word may mean; null for a word that nobody has thought of. */
export function otherWordAdvice(word: string): string | null {
  return own(ADVICE, word) ?? null;
}

/** Returns the verb whose help a word asks for. */
export function synonymOf(word: string): string {
  return own(SAME_AS, word) ?? word;
}

/** Starting is `up` for a fleet and its workers, and `run` for any other; a command behind `--` is for `run`. */
function startingVerb(): string {
  const dashes = process.argv.indexOf("--");
  const [, name] = process.argv.slice(2, dashes < 0 ? undefined : dashes).filter((word) => !word.startsWith("-"));
  if (name === undefined) return "up";
  if (dashes >= 0) return "run";
  return isDeclaredHere(name) ? "up" : "run";
}

function isDeclaredHere(name: string): boolean {
  try {
    const key = nameKey(name);
    const declared = declaredWorkersHere(findProjectHere());
    return declared.some((worker) => nameKey(worker.name) === key || nameKey(worker.entry) === key);
  } catch (error) {
    if (isPerdureError(error)) return false; // the verb will say what is wrong with the folder
    throw error;
  }
}
