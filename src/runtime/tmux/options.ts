import { existsSync } from "node:fs";
import { join } from "node:path";
import { PANE_COLUMNS, PANE_HISTORY_LINES, PANE_ROWS } from "../../limits/index.ts";
import type { Environment } from "../../util/environment.ts";
import { CONTROL_SESSION, IS_FIRST_OF_GROUP, PROJECT_OPTION, viewHook } from "./views.ts";

/** Dark on yellow, which can be read on any other colour. */
const HIGHLIGHT = "#[bg=yellow#,fg=black#,bold]";

/** The option that `attach` sets from inside a tmux with the same prefix as ours. */
export const NESTED_PREFIX_OPTION = "@perdure_twice";

/** Returns the options that each daemon sets on our server, which does not read ~/.tmux.conf. */
export function serverOptions(env: Environment): string[][] {
  const options: [scope: string, name: string, value: string][] = [
    ["-s", "escape-time", "10"],
    ["-s", "focus-events", "on"],
    ["-s", "default-terminal", terminal(env)],
    ["-g", "default-size", `${PANE_COLUMNS}x${PANE_ROWS}`],
    ["-g", "history-limit", String(PANE_HISTORY_LINES)],
    ["-g", "mouse", "on"],
    ["-g", "set-titles", "off"],
    ["-g", "base-index", "1"],
    ["-g", "status-left-length", "80"],
    ["-g", "status-left", `#[bold] #{?#{${PROJECT_OPTION}},#{${PROJECT_OPTION}},#{session_name}} #[nobold]`],
    ["-g", "status-right-length", "80"],
    ["-g", "status-right", `${NEEDED_ANYWHERE} ${PREFIX} w: workers, ${PREFIX} d: leave `],
    ["-g", NEEDED_OPTION, NEEDED_NAMES],
    ["-gw", "window-status-format", windowStatus("")],
    ["-gw", "window-status-current-format", windowStatus("*")],
    ["-gw", "pane-border-format", PANE_BORDER],
    // Agents tell Shift+Enter from Enter, where the terminal does.
    ["-s", "extended-keys", "on"],
    // A number of its own: appended, it would be there once more after each start of a daemon.
    ["-s", "terminal-features[90]", "*:extkeys"],
    // Agents draw pictures, set the clipboard and notify through the terminal around tmux.
    ["-gw", "allow-passthrough", "on"],
  ];
  const choose = ["choose-tree", "-Zw", "-F", TREE, "-f", `#{!=:#{session_name},${CONTROL_SESSION}}`];
  return [
    ...setOptions(options),
    ...essentialOptions(),
    ["bind-key", "w", ...choose],
    ["bind-key", "s", ...sessions(choose)],
  ];
}

/** Returns the options that keep workers alive and found, which are set again after a file of the user's was read. */
export function essentialOptions(): string[][] {
  return [...setOptions(ESSENTIAL), viewHook()];
}

/** The values of these options, in a format: a notice of another value tells that somebody has changed one. */
export function essentialValues(): string {
  return ESSENTIAL.map(([, name]) => `#{${name}}`).join(" ");
}

const ENDED =
  "[#{?#{@perdure_name},#{@perdure_name},#{window_name}} has ended#{?pane_dead_signal, by signal #{pane_dead_signal},#{?#{!=:#{pane_dead_status},}, with code #{pane_dead_status},}}]";

const ESSENTIAL: [scope: string, name: string, value: string][] = [
  // The server stays when the last worker has ended and when the last client has detached.
  ["-s", "exit-empty", "off"],
  ["-s", "exit-unattached", "off"],
  ["-g", "destroy-unattached", "off"],
  // A terminal whose session is gone leaves, and does not go on to one that nobody asked for.
  ["-g", "detach-on-destroy", "on"],
  // Attaching does not change the environment of workers.
  ["-g", "update-environment", ""],
  // Windows keep their numbers, by which they come back in their order.
  ["-g", "renumber-windows", "off"],
  // The last screen of a worker stays readable, and its pane is reused by the next start.
  ["-gw", "remain-on-exit", "on"],
  ["-gw", "remain-on-exit-format", ENDED],
  // perdure names the windows; a program sets its title only.
  ["-gw", "allow-rename", "off"],
  ["-gw", "automatic-rename", "off"],
];

function setOptions(options: readonly [scope: string, name: string, value: string][]): string[][] {
  // -q: an older tmux knows fewer options and does without.
  return options.map(([scope, name, value]) => ["set-option", "-q", scope, name, value]);
}

/** The prefix as the line of windows shows it: twice for a client inside another tmux, which its terminal's name tells. */
const PREFIX = `#{?#{&&:#{m/r:^(tmux|screen),#{client_termname}},#{==:#{${NESTED_PREFIX_OPTION}},on}},#{prefix} #{prefix},#{prefix}}`;

/** Whether a worker in one of the window's panes needs somebody; `@perdure_needs` is `!` then. */
const NEEDED = "#{m:*!*,#{P:#{@perdure_needs}}}";

/** The border of a pane: the worker's name in a group, and what is said of a worker that has ended. */
const PANE_BORDER = ` #{?#{@perdure_name},#{@perdure_name},#{window_name}}#{?@perdure_needs,◆,}#{?@perdure_says, #{@perdure_says},} `;

/** Says on the right that somebody is needed, in whatever project. */
const NEEDED_ANYWHERE = `#{?#{m:*!*,#{S:#{W:#{P:#{@perdure_needs}}}}}, ${HIGHLIGHT} ◆ needs you #[default],}`;

/** The option from which a status line of the user's own tmux takes who needs them: `◆ coder ◆ planner`, or nothing. */
const NEEDED_OPTION = "@perdure_needed";
const NEEDED_NAMES = `#{S:#{?${IS_FIRST_OF_GROUP},#{W:#{P:#{?@perdure_needs,◆ #{?#{@perdure_name},#{@perdure_name},#{window_name}} ,}}},}}`;

/** The name of a window in the line of windows, highlighted and with a mark while somebody is needed there: `2:coder◆`. */
function windowStatus(flag: string): string {
  return `#{?${NEEDED},${HIGHLIGHT},}#{window_index}:#{window_name}#{?pane_dead,(ended),}#{?${NEEDED},◆,}${flag}#[default]`;
}

/** The line of a session, a window or a pane in the list of workers: its state behind its name. */
const STATE = "#{?@perdure_state,  #{@perdure_state},}";
const TREE = `#{?pane_format,#{?@perdure_name,#{@perdure_name},#{window_name}}#{?@perdure_needs,◆,}${STATE},#{?window_format,#{window_name}#{?${NEEDED},◆,}#{?@perdure_group,,${STATE}},#{session_windows} windows#{?#{||:#{session_attached},#{session_group_attached}}, (attached),}}}`;

/** The same list, with sessions alone. */
function sessions(choose: readonly string[]): string[] {
  return choose.map((word) => (word === "-Zw" ? "-Zs" : word));
}

/** Returns the environment of the server, with which every pane begins; a worker's wrapper adds the rest. */
export function serverEnvironment(env: Environment): Record<string, string> {
  const kept = Object.entries(env).filter((entry): entry is [string, string] => {
    return entry[1] !== undefined && /^(PATH|HOME|LANG|LC_[A-Z]+|USER|LOGNAME|SHELL|TMPDIR|TERMINFO)$/.test(entry[0]);
  });
  return { PATH: "/usr/local/bin:/usr/bin:/bin", TERM: "xterm-256color", ...Object.fromEntries(kept) };
}

/** Chooses tmux's own terminal type, with italics and more colours, where this machine has its description. */
function terminal(env: Environment): string {
  const own = [env.TERMINFO, env.HOME && join(env.HOME, ".terminfo")].filter((folder) => folder !== undefined);
  const folders = [...own, ...TERMINFO].flatMap((folder) => [join(folder, "t"), join(folder, "74")]);
  return folders.some((folder) => existsSync(join(folder, "tmux-256color"))) ? "tmux-256color" : "screen";
}

const TERMINFO = [
  "/etc/terminfo",
  "/lib/terminfo",
  "/usr/share/terminfo",
  "/usr/local/share/terminfo",
  "/opt/homebrew/share/terminfo",
];
