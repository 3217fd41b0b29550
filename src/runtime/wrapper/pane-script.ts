import { realpathSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { shellQuote } from "../../util/shell-quote.ts";
import { processTitle, wrapperCommand, type Inherited, type WrapperForm } from "./script.ts";

export interface PaneStart {
  form: WrapperForm;
  runDir: string;
  /** The worker's name, which `ps` shows. */
  name: string;
  command: string[];
  environment: Readonly<Record<string, string>>;
  inherited: Inherited;
  loaderSwallowsSignals: boolean;
}

/** Variables that tmux sets for each of its panes. */
const TERMINAL_VARIABLES = ["TERM", "TMUX", "TMUX_PANE", "TERM_PROGRAM", "TERM_PROGRAM_VERSION"];
/** Variables that a shell reserves: setting one of them ends the shell. */
const SHELL_VARIABLES = ["UID", "EUID", "PPID", "OPTIND", "SHELLOPTS", "BASHOPTS", "BASH_VERSINFO", "_"];
const LEFT_OUT = new Set([...TERMINAL_VARIABLES, ...SHELL_VARIABLES]);

/**
 * Makes the script that a pane's shell reads to become the wrapper. The environment comes in a file that nobody else can
 * read, because every user of the machine can see a command line; the file is emptied as soon as it was read.
 */
export function paneScript(ownFile: string, start: PaneStart): string {
  const { loaderSwallowsSignals } = start;
  // No verdict is waited for: nobody reads a pane's exit code, and `ls` and `history` tell of a wrong conversation.
  const options = { loaderSwallowsSignals, name: start.name, restoresPath: true };
  const { file, args } = wrapperCommand(start.form, start.runDir, start.command, start.inherited, options);
  const exports = Object.entries(start.environment)
    // Other names cannot be variables of a shell, so they would be lost anyway.
    .filter(([name]) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !LEFT_OUT.has(name))
    .map(([name, value]) => `export ${name}=${shellQuote(value)}`);
  // One line, so that the shell has read the whole file before it is emptied.
  const last = [
    `: > ${shellQuote(ownFile)}`,
    `set -- ${args.slice(1).map(shellQuote).join(" ")}`,
    execTitled(start),
    `exec ${shellQuote(file)} "$@"`,
  ];
  return `${[...exports, last.filter(Boolean).join("; ")].join("\n")}\n`;
}

/**
 * Starts the shell under the worker's name. A plain shell cannot choose the name of what it execs, but `ps` shows the word by which the
 * program was found on PATH: so it is found by a link of that name in the run's folder.
 */
function execTitled({ runDir, name }: PaneStart): string {
  const title = processTitle(name);
  if (runDir.includes(":")) return ""; // it could be no part of a PATH
  const titled = `perdure_path=$PATH; export perdure_path; PATH=${shellQuote(runDir)}; exec ${shellQuote(title)} "$@"`;
  return `if [ -x ${shellQuote(join(runDir, title))} ]; then ${titled}; fi`;
}

/** Makes the link for the shell of a pane. Without one, `ps` shows a shell: a busybox would take the name for one of its tools. */
export function linkTitle({ form, runDir, name }: Pick<PaneStart, "form" | "runDir" | "name">): void {
  const shell = form === "bash" ? "/bin/bash" : "/bin/sh";
  if (basename(realpathSync(shell)) !== "busybox") symlinkSync(shell, join(runDir, processTitle(name)));
}
