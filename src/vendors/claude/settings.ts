import { join, resolve } from "node:path";
import { VENDOR_FILE_BYTES_MAX } from "../../limits/index.ts";
import { readIfReadable } from "../../state/bounded-read.ts";
import { fieldsOf, parseObject } from "../../util/fields.ts";
import { hasOption, tokensOf, type Token } from "../shared/arguments.ts";
import { entryNames } from "../shared/find-file.ts";
import { parseSettings, readSettings } from "../shared/jsonc.ts";
import { ENVIRONMENT, gitRootOf, type RecordingContext, type RecordingOff } from "../shared/recording.ts";
import { ARGUMENTS } from "./arguments.ts";

/** The settings of one place, as claude reads them. */
export interface PlacedSettings {
  settings: Readonly<Record<string, unknown>>;
  place: string;
}

export interface ClaudeContext {
  args: readonly string[];
  cwd: string;
  configDir: string;
  /** The folder of the machine's settings, in place of the real one. */
  etc?: string | undefined;
}

/** Returns the settings that a start reads, from the weakest to the strongest. The administrator's outrank them all. */
export function settingsInUse(context: ClaudeContext): PlacedSettings[] {
  const { cwd, configDir, args } = context;
  const root = gitRootOf(cwd);
  const files = [
    { source: "user", file: join(configDir, "settings.json") },
    { source: "project", file: join(cwd, ".claude", "settings.json") },
    // Unlike the project's own, the local settings of the whole repository count in its folders, too.
    ...(root === null || root === cwd ? [] : [{ source: "local", file: join(root, ".claude", "settings.local.json") }]),
    { source: "local", file: join(cwd, ".claude", "settings.local.json") },
  ];
  const sources = sourcesIn(args);
  const inFiles = files.filter(({ source }) => sources.includes(source)).map(({ file }) => settingsAt(file));
  const given = givenSettings(args, cwd);
  return [...inFiles, ...(given === null ? [] : [given]), ...managedSettings(context)];
}

/** With this variable claude writes no transcript, in a terminal or without one. */
const VARIABLE = "CLAUDE_CODE_SKIP_PROMPT_HISTORY";

/** Returns what turns claude's transcripts off. The `env` of its settings is stronger than the environment. */
export function claudeUnrecordedBy(context: RecordingContext): RecordingOff | null {
  const { environment } = context;
  const found = settingsInUse(context)
    .map(({ settings, place }) => ({ value: fieldsOf(settings.env)[VARIABLE], place }))
    .findLast(({ value }) => value !== undefined);
  const { value, place } = found ?? { value: environment[VARIABLE], place: ENVIRONMENT };
  const isOn = (typeof value === "string" || typeof value === "number") && /^(1|true|yes|on)$/i.test(`${value}`.trim());
  return isOn || value === true ? { setting: `${VARIABLE}=${value}`, place } : null;
}

/** Returns the settings of the command line, which are a file or the text itself; null without any. */
export function givenSettings(args: readonly string[], cwd: string): PlacedSettings | null {
  const given = valueOf(args, SETTINGS);
  if (given === null) return null;
  if (given.trimStart().startsWith("{")) return { settings: parseSettings(given), place: SETTINGS };
  return settingsAt(resolve(cwd, given));
}

/** Tells whether claude would take the settings of the command line: of those that it refuses it has to say so itself. */
export function areReadable(args: readonly string[], cwd: string): boolean {
  const given = valueOf(args, SETTINGS);
  if (given === null) return true;
  const isText = given.trimStart().startsWith("{");
  return parseObject(isText ? given : readIfReadable(resolve(cwd, given), VENDOR_FILE_BYTES_MAX)) !== null;
}

/** Returns the arguments without the settings among them. */
export function withoutSettings(args: readonly string[]): string[] {
  const isSettings = ({ text, option }: Token): boolean =>
    option === SETTINGS || text === SETTINGS || text.startsWith(`${SETTINGS}=`);
  return tokensOf(args, ARGUMENTS)
    .filter((token) => token.kind === "literal" || token.kind === "word" || !isSettings(token))
    .map(({ text }) => text);
}

const SETTINGS = "--settings";

function settingsAt(file: string): PlacedSettings {
  return { settings: readSettings(file), place: file };
}

/** Returns the administrator's settings, which no option leaves out: one file, and a folder of files that are added in their order. */
function managedSettings({ etc }: ClaudeContext): PlacedSettings[] {
  const folder = etc === undefined ? MANAGED : join(etc, "claude-code");
  const added = entryNames(join(folder, "managed-settings.d")).filter((name) => /^[^.].*\.json$/.test(name));
  const names = ["managed-settings.json", ...added.map((name) => join("managed-settings.d", name))];
  return names.map((name) => settingsAt(join(folder, name)));
}

const MANAGED = process.platform === "darwin" ? "/Library/Application Support/ClaudeCode" : "/etc/claude-code";

/** Returns the settings files that the command line leaves in use. */
function sourcesIn(args: readonly string[]): string[] {
  if (hasOption(args, ARGUMENTS, "--restricted")) return [];
  return (valueOf(args, "--setting-sources") ?? "user,project,local").split(",").map((word) => word.trim());
}

function valueOf(args: readonly string[], option: string): string | null {
  const tokens = tokensOf(args, ARGUMENTS);
  const apart = tokens.findLast((token) => token.option === option)?.text;
  const joined = tokens.findLast(({ kind, text }) => kind === "option" && text.startsWith(`${option}=`))?.text;
  return apart ?? joined?.slice(option.length + 1) ?? null;
}
