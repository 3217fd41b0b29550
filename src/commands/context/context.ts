import { relativeTo } from "../../project/context-file.ts";
import { PerdureError } from "../../protocol/errors.ts";
import type { Command, Invocation } from "../shared/command.ts";
import { rawOutput } from "../shared/output.ts";
import { subcommand } from "../shared/subcommand.ts";
import { locateAnchor } from "./anchor-paths.ts";

type Action = (invocation: Invocation) => Promise<void>;

/** Actions by name. `path` runs many times a run; the others are loaded on demand. */
const ACTIONS: Readonly<Record<string, { words: readonly [number, number]; load: () => Promise<Action> }>> = {
  path: { words: [0, 0], load: async () => contextPath },
  log: { words: [1, Number.POSITIVE_INFINITY], load: async () => (await import("./log.ts")).contextLog },
  archive: { words: [1, Number.POSITIVE_INFINITY], load: async () => (await import("./archive.ts")).contextArchive },
  recover: { words: [0, 0], load: async () => (await import("./recover.ts")).contextRecover },
  sweep: { words: [0, 0], load: async () => (await import("./sweep.ts")).contextSweep },
};

const USAGE = "path | log TEXT | archive DESCRIPTION | recover | sweep";

export const context: Command = {
  summary: "locate, write and archive the context file of this run; recover those of crashed runs",
  usage: `${USAGE} [--dir D] [--ext E]`,
  details: [
    "path      prints the path, the same on every call; needs no daemon and creates nothing (--absolute)",
    "log       appends an entry with a timestamp; - reads stdin",
    "archive   moves the file to sessions/ under date and description, at the end of the work",
    "recover   lists the files of runs that ended without archiving, by worker, newest first",
    "sweep     archives files of such runs older than --older-than DAYS (7); --dry-run only lists them",
  ].join("\n"),
  examples: [
    "perdure context path",
    'perdure context log "tests pass, next: the parser"',
    'perdure context log -- "- a text that begins with a dash"',
    "perdure context archive parser done",
    "perdure context recover",
    "perdure context sweep --older-than 30 --dry-run",
  ],
  options: {
    dir: { type: "string" },
    ext: { type: "string" },
    absolute: { type: "boolean" },
    "older-than": { type: "string" },
    "dry-run": { type: "boolean" },
  },
  words: [1, Number.POSITIVE_INFINITY],
  takesRest: true,

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
    await (
      await action.load()
    )({ ...invocation, words: rest });
  },
};

/** Depends on the environment and the configuration alone: creates nothing and asks no daemon. */
async function contextPath({ values, out }: Invocation): Promise<void> {
  const { file, agentId } = locateAnchor(values);
  const path = values.absolute === true ? file : relativeTo(process.cwd(), file);
  out.result({ path, agentId: agentId ?? null }, () => rawOutput(path));
}
