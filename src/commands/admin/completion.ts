import { connectToDaemon } from "../../client/connect.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { own } from "../../util/own.ts";
import type { Command } from "../shared/command.ts";
import type { HelpTable } from "../shared/help-page.ts";
import { projectOfRun, projectRefHere } from "../shared/here.ts";

/** Completion scripts by shell; each calls `perdure __complete` with the words so far. */
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_perdure() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(perdure __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _perdure perdure
`,
  zsh: `#compdef perdure
_perdure() {
  local -a candidates
  candidates=("\${(@f)$(perdure __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -a candidates
}
compdef _perdure perdure
`,
  fish: `complete -c perdure -f -a '(perdure __complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
};

export const completion: Command = {
  summary: "print a completion script for bash, zsh or fish; names are completed, too",
  usage: "bash | zsh | fish",
  examples: [
    "source <(perdure completion bash)",
    "perdure completion zsh > ~/.zfunc/_perdure",
    "perdure completion fish > ~/.config/fish/completions/perdure.fish",
  ],
  words: [1, 1],

  async run({ words, out }) {
    const shell = words[0] ?? "";
    const script = own(SCRIPTS, shell);
    if (script === undefined) {
      throw new PerdureError("usage", `There are no completions for ${JSON.stringify(shell)}.`, {
        hint: `perdure completion ${Object.keys(SCRIPTS).join(" | ")}`,
      });
    }
    out.result({ shell, script }, () => script);
  },
};

/** Verbs whose first argument is a worker's name. */
const TAKES_NAMES = new Set(
  "run show history rename retire takeover events restart fork drill pause up down stop attach logs send ask inbox".split(
    " ",
  ),
);
/** Verbs that take any number of worker names. */
const TAKES_SEVERAL = new Set(["up", "down", "stop", "drill"]);
const SUBCOMMANDS: Readonly<Record<string, string[]>> = {
  context: ["path", "log", "archive", "recover", "sweep"],
  daemon: ["start", "stop", "status", "install", "uninstall"],
  project: ["show", "ls", "move"],
  completion: Object.keys(SCRIPTS),
};

/** Lists what could stand in place of the last word, which is being typed, for `perdure __complete`. */
export async function complete(words: readonly string[], { groups }: HelpTable): Promise<string[]> {
  const verbs = groups.flatMap((group) => group.verbs);
  const [verb = "", ...rest] = words;
  const typed = words.at(-1) ?? "";
  const options = Object.keys(verbs.find((each) => each.verb === verb)?.options ?? {});
  const all =
    words.length <= 1
      ? verbs.map((each) => each.verb)
      : typed.startsWith("-")
        ? ["--json", "--help", ...options.map((name) => `--${name}`)]
        : await argumentCandidates(verb, rest.length);
  return all.filter((candidate) => candidate.startsWith(typed));
}

async function argumentCandidates(verb: string, position: number): Promise<string[]> {
  if (position > 1 && !TAKES_SEVERAL.has(verb)) return [];
  return TAKES_NAMES.has(verb) ? workerNames() : (own(SUBCOMMANDS, verb) ?? []);
}

/** Lists the workers' names, only if a daemon runs: pressing a key must not start one. */
async function workerNames(): Promise<string[]> {
  try {
    const client = await connectToDaemon({ autostart: false });
    const { items: workers } = await client.collect("ls", {
      here: projectRefHere(),
      project: projectOfRun(),
      all: false,
    });
    client.close();
    return workers.map(({ name }) => name);
  } catch {
    return []; // a completion has nowhere to report an error
  }
}
