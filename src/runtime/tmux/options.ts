import { existsSync } from "node:fs";
import { join } from "node:path";
import { PANE_COLUMNS, PANE_HISTORY_LINES, PANE_ROWS } from "../../limits/index.ts";
import type { Environment } from "../../util/environment.ts";

/** The option that `attach` sets from inside a tmux with the same prefix as ours. */
export const NESTED_PREFIX_OPTION = "@perdure_twice";

/** Returns the options that each daemon sets on our server, which does not read ~/.tmux.conf. */
export function serverOptions(env: Environment): string[][] {
  const options: [scope: string, name: string, value: string][] = [
    // The server stays when the last worker has ended and when the last client has detached.
    ["-s", "exit-empty", "off"],
    ["-s", "exit-unattached", "off"],
    ["-s", "escape-time", "10"],
    ["-s", "focus-events", "on"],
    ["-s", "default-terminal", terminal(env)],
    ["-g", "destroy-unattached", "off"],
    ["-g", "detach-on-destroy", "off"],
    ["-g", "default-size", `${PANE_COLUMNS}x${PANE_ROWS}`],
    ["-g", "history-limit", String(PANE_HISTORY_LINES)],
    ["-g", "mouse", "on"],
    ["-g", "set-titles", "off"],
    // Attaching does not change the environment of workers.
    ["-g", "update-environment", ""],
    ["-g", "base-index", "1"],
    ["-g", "renumber-windows", "off"],
    ["-g", "status-left-length", "80"],
    ["-g", "status-left", "#[bold] #{?#{@perdure_project},#{@perdure_project},#{session_name}} #[nobold]"],
    ["-g", "status-right", ` ${PREFIX} w: workers, ${PREFIX} d: leave `],
    ["-gw", "window-status-format", "#{window_index}:#{window_name}#{?pane_dead,(ended),}"],
    ["-gw", "window-status-current-format", "#{window_index}:#{window_name}#{?pane_dead,(ended),}*"],
    ["-gw", "pane-border-format", " #{@perdure_name} "],
    // The last screen of a worker stays readable, and its pane is reused by the next start.
    ["-gw", "remain-on-exit", "on"],
    ["-gw", "remain-on-exit-format", ENDED],
    // perdure names the windows; a program sets its title only.
    ["-gw", "allow-rename", "off"],
    ["-gw", "automatic-rename", "off"],
  ];
  // -q: an older tmux knows fewer options and does without.
  return options.map(([scope, name, value]) => ["set-option", "-q", scope, name, value]);
}

/** The prefix as the status line shows it: twice for a client inside another tmux, which its terminal's name tells. */
const PREFIX = `#{?#{&&:#{m/r:^(tmux|screen),#{client_termname}},#{==:#{${NESTED_PREFIX_OPTION}},on}},C-b C-b,C-b}`;

const ENDED =
  "[#{?#{@perdure_name},#{@perdure_name},#{window_name}} has ended#{?pane_dead_signal, by signal #{pane_dead_signal},#{?#{!=:#{pane_dead_status},}, with code #{pane_dead_status},}}]";

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
