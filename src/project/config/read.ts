import { join, relative } from "node:path";
import type * as Toml from "smol-toml";
import { CONFIG_BYTES_MAX } from "../../limits/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { readBounded } from "../../state/bounded-read.ts";
import { CONFIG_FILE, type FoundProject } from "../find.ts";
import type * as Check from "./check.ts";
import { configError, loadLineFinder, type ConfigSource } from "./errors.ts";
import { hasPlainSettings } from "./keys.ts";
import type { Config, UserConfig } from "./schema.ts";

export type { Config, UserConfig, WorkerDefaults, WorkerEntry } from "./schema.ts";

declare const PERDURE_VERSION: string | undefined;

/** A file that was read: what it says, and its text for whoever has to point at a line. */
export interface ConfigText<C = Config> {
  config: C;
  source: ConfigSource;
}

/** The perdure.toml of the working tree the caller stands in; a worktree without one uses the main tree's. */
export function readProjectConfig(project: FoundProject): Config {
  return readConfigAt(project.here) ?? readConfigAt(project.root) ?? {};
}

/** The perdure.toml in this very folder, or null. */
export function readConfigAt(folder: string): Config | null {
  return readConfigText(folder)?.config ?? null;
}

export function readConfigText(folder: string): ConfigText | null {
  return read(join(folder, CONFIG_FILE), "project");
}

export function readUserConfig(file: string): UserConfig {
  return read<UserConfig>(file, "user")?.config ?? {};
}

/** The settings of the project itself, without those of its workers. */
export type Settings = Omit<Config, "defaults" | "workers">;

/**
 * The same files for the daemon, and for verbs that agents call all day. Loading the checker takes 5 ms and 2 MB, so it is loaded
 * only for a file that looks wrong; a wrong value that concerns a worker is told by who starts it.
 */
export function readProjectSettings(project: FoundProject): Settings {
  return readSettingsAt(project.here) ?? readSettingsAt(project.root) ?? {};
}

export function readSettingsAt(folder: string): Settings | null {
  return read(join(folder, CONFIG_FILE), "project", true)?.config ?? null;
}

export function readUserSettings(file: string): UserConfig {
  return read<UserConfig>(file, "user", true)?.config ?? {};
}

/** Reads a text as the perdure.toml of a folder, as if it were there. */
export function configOf(folder: string, text: string): ConfigText {
  const source = { file: shownPath(join(folder, CONFIG_FILE)), text };
  const config = withoutBlankName(parseToml(source));
  checkValues(config, "project", source);
  return { config, source };
}

/** A blank name counts as none, as in a variable. */
function withoutBlankName(values: Record<string, unknown>): Record<string, unknown> {
  const { name, ...others } = values;
  return typeof name === "string" && name.trim() === "" ? others : values;
}

/** Shortens a path to what a person would type. */
function shownPath(file: string): string {
  return file.startsWith(process.cwd()) ? relative(process.cwd(), file) : file;
}

function read<C = Config>(file: string, kind: Check.FileKind, settingsOnly = false): ConfigText<C> | null {
  const text = readBounded(file, CONFIG_BYTES_MAX);
  if (text === null) return null;
  const source = { file: shownPath(file), text };
  const values = withoutBlankName(parseToml(source));
  if (!settingsOnly || !hasPlainSettings(values, kind)) checkValues(values, kind, source);
  return { config: values as C, source };
}

/** Throws the first problem of the file. */
function checkValues(values: Record<string, unknown>, kind: Check.FileKind, source: ConfigSource): void {
  const loaded: unknown =
    typeof PERDURE_VERSION === "string"
      ? require("./check.ts")
      : process.getBuiltinModule("node:module").createRequire(import.meta.filename)("./check.ts");
  const problems = (loaded as typeof Check).problemsOf(values, kind);
  if (problems.length === 0) return;
  const lineOf = loadLineFinder(source);
  const first = problems.reduce((best, each) => (lineOf(each.path) < lineOf(best.path) ? each : best));
  throw configError(source, first.path, first.message, first.hint ?? undefined);
}

/** The parser's own error is not kept as the cause, because it quotes lines of the file, which may hold a secret. */
export function parseToml({ text, file }: ConfigSource): Record<string, unknown> {
  const { parse, TomlError } = loadTomlParser();
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [reason = "it is not TOML"] = error.message.replace(/^Invalid TOML document: /, "").split("\n");
    throw new PerdureError("usage", `${file}:${error.line}: ${reason}.`, { hint: `edit ${file}` });
  }
}

/** Loads the parser, which is a file of its own because most folders have no configuration to parse. */
function loadTomlParser(): typeof Toml {
  const loaded: unknown =
    typeof PERDURE_VERSION === "string"
      ? require("smol-toml")
      : process.getBuiltinModule("node:module").createRequire(import.meta.filename)("smol-toml");
  return loaded as typeof Toml;
}
