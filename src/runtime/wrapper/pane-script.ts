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

/** What the terminal itself decides: tmux sets these for each of its panes. */
const TERMINAL_VARIABLES = ["TERM", "TMUX", "TMUX_PANE", "TERM_PROGRAM", "TERM_PROGRAM_VERSION"];
/** What a shell keeps for itself: setting one of these ends it. */
const SHELL_VARIABLES = ["UID", "EUID", "PPID", "OPTIND", "SHELLOPTS", "BASHOPTS", "BASH_VERSINFO", "_"];
const LEFT_OUT = new Set([...TERMINAL_VARIABLES, ...SHELL_VARIABLES]);

/**
 * What a pane's shell reads to become the wrapper. The environment comes by a file that nobody else can read, because a
 * command line shows its words to everybody on the machine; and the file is emptied as soon as it was read.
 */
export function paneScript(ownFile: string, start: PaneStart): string {
  const { file, args } = wrapperCommand(
    start.form,
    start.runDir,
    start.command,
    start.inherited,
    start.loaderSwallowsSignals,
  );
  const exports = Object.entries(start.environment)
    // Others cannot be a shell's variable, and would not survive it.
    .filter(([name]) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !LEFT_OUT.has(name))
    .map(([name, value]) => `export ${name}=${shellQuote(value)}`);
  // On one line, so that the shell has read all of it: what was in the file is nobody's business once it was.
  const last = `: > ${shellQuote(ownFile)}; exec ${[file, ...args.slice(1)].map(shellQuote).join(" ")}`;
  return `${[...exports, last].join("\n")}\n`;
}
