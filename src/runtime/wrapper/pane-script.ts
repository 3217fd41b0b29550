import { shellQuote } from "../../util/shell-quote.ts";
import { wrapperCommand, type Inherited, type WrapperForm } from "./script.ts";

export interface PaneStart {
  form: WrapperForm;
  runDir: string;
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
  const options = { loaderSwallowsSignals };
  const { file, args } = wrapperCommand(start.form, start.runDir, start.command, start.inherited, options);
  const exports = Object.entries(start.environment)
    // Other names cannot be variables of a shell, so they would be lost anyway.
    .filter(([name]) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !LEFT_OUT.has(name))
    .map(([name, value]) => `export ${name}=${shellQuote(value)}`);
  // One line, so that the shell has read the whole file before it is emptied.
  const last = `: > ${shellQuote(ownFile)}; exec ${[file, ...args.slice(1)].map(shellQuote).join(" ")}`;
  return `${[...exports, last].join("\n")}\n`;
}
