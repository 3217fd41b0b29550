import { relativeTo } from "../../project/context-file.ts";
import { PerdureError } from "../../protocol/errors.ts";
import type { Command, Invocation } from "../shared/command.ts";
import { rawOutput } from "../shared/output.ts";
import { subcommand } from "../shared/arguments/subcommand.ts";
import { locateAnchor } from "./anchor-paths.ts";

type Action = (invocation: Invocation) => Promise<number | void>;

/** Actions by name. `path` runs many times a run; the others are loaded on demand. */
const ACTIONS: Readonly<Record<string, { words: readonly [number, number]; load: () => Promise<Action> }>> = {
  path: { words: [0, 0], load: async () => contextPath },
  log: { words: [1, Number.POSITIVE_INFINITY], load: async () => (await import("./log.ts")).contextLog },
  archive: { words: [1, Number.POSITIVE_INFINITY], load: async () => (await import("./archive.ts")).contextArchive },
  recover: { words: [0, 0], load: async () => (await import("./recover.ts")).contextRecover },
  sweep: { words: [0, 0], load: async () => (await import("./sweep.ts")).contextSweep },
};

const USAGE = "path | log TEXT | archive TITLE | recover | sweep";

export const context: Command = {
  summary: "keep notes of this run in a file that outlives it",
  usage: `${USAGE} [options]`,
  subcommands: {
    path: "print the path of this run's file; needs no daemon and creates nothing",
    "log TEXT": "append an entry with a timestamp; - reads standard input",
    "archive TITLE": "move the file to sessions/ under its date and title, when the work is done",
    recover: "list the files of runs that ended without archiving, newest first",
    sweep: "archive old files of such runs",
  },
  examples: [
    "perdure context path",
    'perdure context log "tests pass, next: the parser"',
    'perdure context log -- "- a text that begins with a dash"',
    "perdure context archive parser done",
    "perdure context recover",
    "perdure context sweep --older-than 30 --dry-run",
    "perdure context sweep --foreign",
  ],
  options: {
    dir: { value: "DIR", about: "the folder of the files, in place of [context] dir (.ai)", completes: "folder" },
    ext: { value: "EXT", about: "their ending, in place of [context] ext (md)" },
    absolute: { about: "path: print an absolute path" },
    foreign: { about: "recover, sweep: those that belong to no run of this project" },
    "older-than": { value: "DAYS", about: "sweep: only files that are older (7)" },
    "dry-run": { about: "sweep: only list what would be archived" },
  },
  words: [1, Number.POSITIVE_INFINITY],
  takesRest: "text",

  async run(invocation) {
    // After `--` a text may begin with a dash.
    const [word = "", ...rest] = [...invocation.words, ...(invocation.rest ?? [])];
    const action = subcommand("context", ACTIONS, word);
    const [least, most] = action.words;
    if (rest.length < least || rest.length > most) {
      const problem =
        rest.length < least ? "an argument is missing" : `unexpected argument ${JSON.stringify(rest[most])}`;
      throw new PerdureError("usage", `context ${word}: ${problem}.`, { hint: `perdure context ${USAGE}` });
    }
    return (await action.load())({ ...invocation, words: rest });
  },
};

/** Depends on the environment and the configuration alone: creates nothing and asks no daemon. */
async function contextPath({ values, out }: Invocation): Promise<void> {
  const { file, agentId } = locateAnchor(values);
  const path = values.absolute === true ? file : relativeTo(process.cwd(), file);
  out.result({ path, agentId: agentId ?? null }, () => rawOutput(path));
}
