import { dirname, join } from "node:path";
import { parse } from "smol-toml";
import { VENDOR_FILE_BYTES_MAX } from "../../limits/index.ts";
import type { MissingVariable } from "../../protocol/records/environment.ts";
import { readIfReadable } from "../../state/bounded-read.ts";
import { fieldsOf, isTable, textOf } from "../../util/fields.ts";
import { gitRootOf, type RecordingContext } from "../shared/recording.ts";

/** A table of codex's settings, and where it stands. */
interface SettingsAt {
  place: string;
  values: Readonly<Record<string, unknown>>;
}

/**
 * Returns the variables that codex takes the key and the headers of its model provider from. Codex says itself that one is missing,
 * but only when somebody has asked it something. The servers that codex ships with have other ways to log in.
 */
export function variablesOfProvider(
  context: RecordingContext,
  given: readonly string[],
  profile?: string,
): MissingVariable[] {
  const all = [{ place: "the command", values: settingsGiven(given) }, ...settingsOfFiles(context, profile)];
  const provider = firstOf(all, (values) => textOf(values.model_provider));
  if (provider === null) return [];
  const name = provider.found;
  const field = <T>(
    read: (provider: Readonly<Record<string, unknown>>) => T | null,
  ): { found: T; place: string } | null =>
    firstOf(all, (values) => read(fieldsOf(fieldsOf(values.model_providers)[name])));
  const key = field(({ env_key: found }) => textOf(found));
  const headers = field(({ env_http_headers: found }) => (isTable(found) ? found : null));
  const headerNames = Object.values(headers?.found ?? {}).map(textOf);
  return [
    ...(key === null ? [] : [{ name: key.found, namedBy: `model_providers.${name}.env_key in ${key.place}` }]),
    ...headerNames
      .filter((each) => each !== null)
      .map((each) => ({ name: each, namedBy: `model_providers.${name}.env_http_headers in ${headers?.place}` })),
  ];
}

function firstOf<T>(
  all: readonly SettingsAt[],
  read: (values: SettingsAt["values"]) => T | null,
): { found: T; place: string } | null {
  for (const { place, values } of all) {
    const found = read(values);
    if (found !== null) return { found, place };
  }
  return null;
}

/** Reads the files that count, the strongest first. Those of a project count once its user trusts it, which may be any moment. */
function settingsOfFiles({ cwd, configDir, etc = "/etc" }: RecordingContext, profile?: string): SettingsAt[] {
  const files = [
    ...(profile === undefined ? [] : [join(configDir, `${profile}.config.toml`)]),
    ...foldersUpTo(gitRootOf(cwd) ?? cwd, cwd).map((folder) => join(folder, ".codex", "config.toml")),
    join(configDir, "config.toml"),
    join(etc, "codex", "config.toml"),
  ];
  return files.map((place) => ({ place, values: settingsIn(place) }));
}

function settingsIn(file: string): SettingsAt["values"] {
  const text = readIfReadable(file, VENDOR_FILE_BYTES_MAX);
  return text.includes("model_provider") ? parsed(text) : {};
}

/** Reads the values of `-c a.b=value`; a later one wins. A value that is no TOML is a text, as codex takes it. */
function settingsGiven(given: readonly string[]): SettingsAt["values"] {
  const values: Record<string, unknown> = {};
  for (const each of given.filter((text) => text.startsWith("model_provider"))) {
    const at = each.indexOf("=");
    const [key, value] = [each.slice(0, at), each.slice(at + 1)];
    merge(values, parsedOrNull(each) ?? parsed(`${key}=${JSON.stringify(value)}`));
  }
  return values;
}

function merge(into: Record<string, unknown>, from: Readonly<Record<string, unknown>>): void {
  for (const [key, value] of Object.entries(from)) {
    const present = into[key];
    if (isTable(present) && isTable(value)) merge(present, value);
    else into[key] = value;
  }
}

/** SettingsAt that cannot be read are none here: codex says itself what is wrong with them. */
function parsed(text: string): Record<string, unknown> {
  return parsedOrNull(text) ?? {};
}

function parsedOrNull(text: string): Record<string, unknown> | null {
  try {
    return parse(text);
  } catch {
    return null;
  }
}

/** Returns the folder and those above it, up to the root of its project. */
export function foldersUpTo(root: string, folder: string): string[] {
  return folder === root ? [folder] : [folder, ...foldersUpTo(root, dirname(folder))];
}
