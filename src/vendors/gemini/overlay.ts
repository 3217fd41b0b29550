import { lstatSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import type * as Jsonc from "jsonc-parser";
import { HOOK_WAIT_MS, VENDOR_FILE_BYTES_MAX } from "../../limits/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import type { Variables } from "../../protocol/records/conversation.ts";
import { readBounded } from "../../state/bounded-read.ts";
import { isErrno } from "../../state/files.ts";
import { homeDir } from "../../state/paths.ts";
import type { Environment } from "../../util/environment.ts";
import { fieldsOf } from "../../util/fields.ts";
import { shellQuote } from "../../util/shell-quote.ts";
import type { LaunchFile, Mirror } from "../launch-plan.ts";
import { hookCommand, hookScript } from "../shared/hook-script.ts";
import { jsonc } from "../shared/jsonc.ts";
import { OVERLAY_MARK } from "./program.ts";

// The overlay is a home folder of the run, in which only the settings differ from the user's: gemini has no flag for hooks, and
// takes a settings file by variable only from root.

/** Returns the user's own home of gemini, also from the environment of a worker, whose home is an overlay. */
export function geminiHome(env: Environment): string {
  const home = env.GEMINI_CLI_HOME;
  if (!home) return homeDir(env);
  const mark = env[OVERLAY_MARK] ?? "";
  return mark.startsWith(`${home}:`) ? mark.slice(home.length + 1) : home;
}

/**
 * Returns the home in which a process has the transcript that it names: that behind the links of its overlay, or its own, such as a
 * copy of the overlay that a program in front has made; undefined where the path does not tell.
 */
export function homeOfTranscript(transcript: string): string | undefined {
  const folder = TRANSCRIPTS.exec(transcript)?.[0];
  if (folder === undefined) return undefined;
  try {
    const target = lstatSync(folder).isSymbolicLink() ? readlinkSync(folder) : folder;
    return TRANSCRIPTS.exec(`${target}/`)?.[1];
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR", "EACCES", "ELOOP")) return undefined;
    throw error;
  }
}

const TRANSCRIPTS = /^(.+)\/\.gemini\/tmp(?=\/)/;

/** The settings of the overlay, which gemini reads, and in which it saves what its user changes. */
export const OVERLAY_SETTINGS = ".gemini/settings.json";

/** The same once more, out of gemini's sight: what differs from it was changed inside gemini. */
export const WRITTEN_SETTINGS = "settings-as-written.json";

export interface Overlay {
  files: LaunchFile[];
  mirrors: Mirror[];
  variables: Variables;
}

/** Returns the overlay for one start; `general` are settings of that group in which the user has set nothing. */
export function overlayOf(
  home: string,
  runDir: string,
  hooks: Readonly<Record<string, string>>,
  general: Readonly<Record<string, unknown>>,
): Overlay {
  const text = settingsWith(home, runDir, hooks, general);
  // In this order: whoever finds the settings of the overlay finds all that they are compared with.
  const settings = [WRITTEN_SETTINGS, OVERLAY_SETTINGS].map((name) => ({ name, text }));
  return {
    files: [...settings, hookScript(runDir, notIts(runDir))],
    mirrors: [
      { name: ".gemini", of: join(home, ".gemini"), folders: FOLDERS, files: FILES, leave: LEFT },
      beside(home),
    ],
    variables: { GEMINI_CLI_HOME: runDir, [OVERLAY_MARK]: `${runDir}:${home}` },
  };
}

/** Folders and files that gemini makes when it needs them, and that must then be in the user's home. */
const FOLDERS = ["tmp", "history", "policies", "extensions", "acknowledgments"];
const FILES = [
  "installation_id",
  "google_accounts.json",
  "oauth_creds.json",
  "mcp-oauth-tokens.json",
  "state.json",
  "mcp-server-enablement.json",
  "trusted_hooks.json",
  "GEMINI.md",
];
/** The lock on a file that the overlay may have a copy of. */
const LEFT = ["projects.json.lock"];

function beside(home: string): Mirror {
  return { name: "", of: home, only: [".env", ".agents"] };
}

/**
 * True for a hook of another process than the worker's own: for commands of its tools gemini sets a variable, and what
 * they start inherits it. A worker that was started from inside this one has lost the mark.
 */
function notIts(runDir: string): string {
  return `case "$GEMINI_CLI:$${OVERLAY_MARK}" in :${shellQuote(runDir)}:*) false ;; esac`;
}

type Fields = Readonly<Record<string, unknown>>;

function settingsWith(
  home: string,
  runDir: string,
  events: Readonly<Record<string, string>>,
  defaults: Readonly<Record<string, unknown>>,
): string {
  const settings = userSettings(settingsFile(home));
  const general = { ...defaults, ...fieldsOf(settings.general) };
  const hooks = { ...fieldsOf(settings.hooks) };
  for (const [event, word] of Object.entries(events)) {
    const ours = {
      hooks: [{ type: "command", name: "perdure", command: hookCommand(runDir, word), timeout: HOOK_WAIT_MS }],
    };
    hooks[event] = [...(Array.isArray(hooks[event]) ? (hooks[event] as unknown[]) : []), ours];
  }
  // Gemini's clean-up takes a stub for a broken conversation, and deletes every file of the same ending with it.
  const sessionRetention = { ...fieldsOf(general.sessionRetention), enabled: false };
  return `${JSON.stringify({ ...settings, general: { ...general, sessionRetention }, hooks }, null, 2)}\n`;
}

/** Returns the file of the user's own settings. */
export function settingsFile(home: string): string {
  return join(home, ".gemini", "settings.json");
}

/** JSON with comments and without commas at the end of lists, as gemini reads it. The error quotes nothing: there may be keys in it. */
function userSettings(file: string): Fields {
  return parsedSettings(file, readBounded(file, VENDOR_FILE_BYTES_MAX) ?? "");
}

export function parsedSettings(file: string, marked: string): Fields {
  const text = marked.replace(/^\uFEFF/, "");
  const { parse, printParseErrorCode } = jsonc();
  const errors: Jsonc.ParseError[] = [];
  let settings: unknown;
  try {
    settings = parse(text, errors, { allowEmptyContent: true });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw unreadable(file, "they are nested too deeply");
  }
  const [first] = errors;
  if (first === undefined) return fieldsOf(settings);
  const line = text.slice(0, first.offset).split("\n").length;
  const what = printParseErrorCode(first.error)
    .replaceAll(/\B[A-Z]/g, " $&")
    .toLowerCase();
  throw unreadable(file, `line ${line}, ${what}`);
}

function unreadable(file: string, why: string): PerdureError {
  return new PerdureError("usage", `gemini's settings ${file} cannot be read: ${why}.`, { hint: `edit ${file}` });
}
