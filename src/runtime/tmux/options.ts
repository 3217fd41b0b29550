import { existsSync } from "node:fs";
import { join } from "node:path";
import { PANE_COLUMNS, PANE_HISTORY_LINES, PANE_ROWS } from "../../limits/index.ts";
import type { Environment } from "../../util/environment.ts";

/** Set by whoever attaches from inside a tmux with the same prefix as ours. */
export const NESTED_PREFIX_OPTION = "@perdure_twice";

/** What our server is told at its start, and again by each daemon: people's own ~/.tmux.conf is not read. */
export function serverOptions(env: Environment): string[][] {
  const options: [scope: string, name: string, value: string][] = [
    // The server is the fleet's house: it stays when the last worker has gone, and whoever leaves.
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
    // A worker's environment is its own; nobody who attaches changes it.
    ["-g", "update-environment", ""],
    ["-g", "base-index", "1"],
    ["-g", "renumber-windows", "off"],
    ["-g", "status-left-length", "80"],
    ["-g", "status-left", "#[bold] #{?#{@perdure_project},#{@perdure_project},#{session_name}} #[nobold]"],
    ["-g", "status-right", ` ${PREFIX} w: workers, ${PREFIX} d: leave `],
    ["-gw", "window-status-format", "#{window_index}:#{window_name}#{?pane_dead,(ended),}"],
    ["-gw", "window-status-current-format", "#{window_index}:#{window_name}#{?pane_dead,(ended),}*"],
    ["-gw", "pane-border-format", " #{@perdure_name} "],
    // What a worker said last is there to read, and its pane to be started in again.
    ["-gw", "remain-on-exit", "on"],
    ["-gw", "remain-on-exit-format", ENDED],
    // Names are ours: what a program calls itself is its title.
    ["-gw", "allow-rename", "off"],
    ["-gw", "automatic-rename", "off"],
  ];
  // Quietly: an older tmux knows fewer of them, and does without.
  return options.map(([scope, name, value]) => ["set-option", "-q", scope, name, value]);
}

/** Whoever looks from inside a tmux of their own, by what that calls its terminals, may have to press it twice. */
const PREFIX = `#{?#{&&:#{m/r:^(tmux|screen),#{client_termname}},#{==:#{${NESTED_PREFIX_OPTION}},on}},C-b C-b,C-b}`;

const ENDED =
  "[#{?#{@perdure_name},#{@perdure_name},#{window_name}} has ended#{?pane_dead_signal, by signal #{pane_dead_signal},#{?#{!=:#{pane_dead_status},}, with code #{pane_dead_status},}}]";

/** What tmux is started with, and so what every pane begins with; the rest a worker is given by its wrapper. */
export function serverEnvironment(env: Environment): Record<string, string> {
  const kept = Object.entries(env).filter((entry): entry is [string, string] => {
    return entry[1] !== undefined && /^(PATH|HOME|LANG|LC_[A-Z]+|USER|LOGNAME|SHELL|TMPDIR|TERMINFO)$/.test(entry[0]);
  });
  return { PATH: "/usr/local/bin:/usr/bin:/bin", TERM: "xterm-256color", ...Object.fromEntries(kept) };
}

/** tmux's own terminal where this machine can describe it: italics, and more colours. */
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
