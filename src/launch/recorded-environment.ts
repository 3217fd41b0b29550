import { ENVIRONMENT_BYTES_MAX } from "../limits/index.ts";
import { PerdureError } from "../protocol/errors.ts";
import type { EnvironmentScope } from "../protocol/records/environment.ts";
import type { Environment } from "../util/environment.ts";
import { isOfOneSession, isVendorVariable } from "../vendors/recorded-variables.ts";
import { IDENTITY_VARIABLES } from "./environment.ts";
import { withoutRunAttributes } from "./resource-attributes.ts";

/** How much of an environment is recorded: the user's own configuration says it, never a repository's. */
type Keep = "all" | "known" | "none";

export interface RecordingRules {
  keep: Keep;
  /** The names that configuration files add to the known ones; `!NAME` takes a name away, whoever added it. */
  names: readonly string[];
  /** The caller is a person at a terminal: no script, no job, and no agent. */
  atTerminal: boolean;
}

/** The variables that are recorded for later starts, and the names of those that cannot be. */
interface EnvironmentToRecord {
  environment: Record<string, string>;
  scope: EnvironmentScope;
  unreadable: string[];
}

/** Chooses the variables that are recorded for the later starts of a worker. */
export function environmentToRecord(
  env: Environment,
  { keep, names, atTerminal }: RecordingRules,
): EnvironmentToRecord {
  const added = new Set(names.filter((name) => !name.startsWith("!")));
  const taken = new Set(names.filter((name) => name.startsWith("!")).map((name) => name.slice(1)));
  const isWhole = keep === "all" && atTerminal;
  const isKept = (name: string): boolean => {
    if (IDENTITY_VARIABLES.has(name) || taken.has(name)) return false;
    if (keep === "none") return isBasic(name);
    if (isWhole && isOfOneSession(name)) return false;
    return added.has(name) || isKnown(name) || (isWhole && SHELL_NAME.test(name) && !isOfOnePlace(name));
  };
  const kept = Object.entries(withoutRunAttributes(defined(env))).filter(([name]) => isKept(name));
  const unreadable = kept.filter(([, value]) => value.includes(NOT_TEXT)).map(([name]) => name);
  const environment = Object.fromEntries(kept.filter(([name]) => !unreadable.includes(name)));
  assertSize(environment);
  return { environment, scope: isWhole ? "whole" : atTerminal ? "chosen" : "known", unreadable };
}

/** The character that Node puts where bytes are no UTF-8: what was there is not known any more. */
const NOT_TEXT = "\uFFFD";

/** Other names cannot be variables of a shell, which starts every program in a pane. */
const SHELL_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The variables by which any program finds itself, its user and its language. */
const BASIC = [
  /^(PATH|HOME|USER|LOGNAME|SHELL|TZ|LANG|LANGUAGE|TERM|TMPDIR)$/,
  /^LC_(?!TERMINAL)[A-Z]+$/,
  /^XDG_[A-Z]+_(HOME|DIR|DIRS)$/,
];

/** The other variables that are recorded whoever calls; a vendor's own are in its program.ts. */
const KNOWN = [
  /^(COLORTERM|EDITOR|VISUAL|PAGER)$/,
  /^(SSH_AUTH_SOCK|GIT_(SSH|SSH_COMMAND|AUTHOR_[A-Z]+|COMMITTER_[A-Z]+)|DISPLAY|WAYLAND_DISPLAY|DBUS_SESSION_BUS_ADDRESS)$/,
  /^(https?|all|no|ftp)_proxy$/i,
  /^(NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR|REQUESTS_CA_BUNDLE)$/,
];

/**
 * Variables of one place: the terminal, the login, the program or the repository that a shell is in. A worker is started later, in
 * another one, where they would be wrong.
 */
const OF_ONE_PLACE = [
  // The shell and its folder.
  /^(PWD|OLDPWD|SHLVL|_|COLUMNS|LINES|SHELLOPTS|BASHOPTS|PS[0-4]|DIRENV_[A-Z_]+)$/,
  // The terminal, and what multiplexes it.
  /^(TMUX.*|STY|WINDOW|WINDOWID|GPG_TTY|TTY|TERMCAP|TERM_(PROGRAM.*|SESSION_ID)|LC_TERMINAL.*|ZELLIJ.*|VTE_VERSION|WT_[A-Z_]+)$/,
  /^((ITERM|KITTY|ALACRITTY|WEZTERM|KONSOLE|GHOSTTY|GNOME_TERMINAL|VSCODE)_.*|TERMINAL_EMULATOR)$/,
  // The login.
  /^(SSH_(CONNECTION|CLIENT|TTY|AGENT_PID)|XDG_(SESSION_[A-Z]+|SEAT.*|VTNR)|SUDO_(COMMAND|USER|UID|GID|HOME)|SECURITYSESSIONID)$/,
  // The service or the program that a shell was started by.
  /^(INVOCATION_ID|JOURNAL_STREAM|NOTIFY_SOCKET|LISTEN_.*|SYSTEMD_EXEC_PID|MANAGERPID|MAINPID|WATCHDOG_[A-Z]+|NODE_CHANNEL_.*)$/,
  /^(npm_.*|INIT_CWD|MAKEFLAGS|MAKELEVEL|MFLAGS|NODE_UNIQUE_ID)$/,
  // The repository.
  /^GIT_(DIR|WORK_TREE|INDEX_FILE|PREFIX|COMMON_DIR|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|NAMESPACE|QUARANTINE_PATH|EXEC_PATH)$/,
  // Our own.
  /^PERDURE_/,
];

function isBasic(name: string): boolean {
  return BASIC.some((pattern) => pattern.test(name));
}

function isKnown(name: string): boolean {
  return isBasic(name) || KNOWN.some((pattern) => pattern.test(name)) || isVendorVariable(name);
}

function isOfOnePlace(name: string): boolean {
  return OF_ONE_PLACE.some((pattern) => pattern.test(name));
}

function defined(env: Environment): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

function assertSize(environment: Record<string, string>): void {
  const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
  const total = bytes(environment);
  if (total <= ENVIRONMENT_BYTES_MAX) return;
  const [largest = ["", ""]] = Object.entries(environment).toSorted((a, b) => bytes(b[1]) - bytes(a[1]));
  const message = `The environment to record has ${total} bytes; the limit is ${ENVIRONMENT_BYTES_MAX}. ${largest[0]} alone has ${bytes(largest[1])}.`;
  throw new PerdureError("usage", message, {
    hint: `unset ${largest[0]}, or put "!${largest[0]}" into [policy] environment of perdure.toml, which takes it away`,
  });
}
