import { isDeepStrictEqual } from "node:util";
import { BRIDGE_COMMAND } from "../shared/mcp.ts";
import { fieldsOf, isTable } from "../../util/fields.ts";
import { jsonc } from "../shared/jsonc.ts";

type Fields = Readonly<Record<string, unknown>>;

/** One setting that was changed; without a value it was removed. */
export interface SettingsChange {
  path: string[];
  value: unknown;
}

/** Returns what was changed inside gemini between two states of the overlay's settings; what is ours in them counts for nothing. */
export function changesBetween(written: Fields, now: Fields, runDir: string): SettingsChange[] {
  const ours = ourServers(written);
  return differences(withoutOurs(written, ours, runDir), withoutOurs(now, ours, runDir), []);
}

/**
 * Makes the changes in a text of settings, setting by setting, and leaves everything else in it as it is, comments too. What somebody
 * else has changed in the same setting meanwhile is overwritten, as gemini itself would do.
 */
export function withChanges(marked: string, changes: readonly SettingsChange[]): string {
  const { applyEdits, modify, parse } = jsonc();
  const [mark = ""] = /^\uFEFF/.exec(marked) ?? [];
  const text = marked.slice(mark.length);
  const formattingOptions = { insertSpaces: !/^\t/m.test(text), tabSize: indentOf(text), eol: eolOf(text) };
  let changed = text.trim() === "" ? "{}\n" : text;
  for (const { path, value } of changes) {
    if (isDeepStrictEqual(valueAt(parse(changed), path), value)) continue;
    changed = applyEdits(changed, modify(changed, path, value, { formattingOptions }));
  }
  return mark + changed;
}

/** Writes changes as settings of their own, for somebody who has to make them by hand; null stands for one that was removed. */
export function changesAsSettings(changes: readonly SettingsChange[]): string {
  const named = changes.map(({ path, value }) => [path.join("."), value ?? null] as const);
  return `${JSON.stringify(Object.fromEntries(named), null, 2)}\n`;
}

/** Tables are compared field by field, so that two programs may add to the same one; lists are compared as a whole. */
function differences(before: Fields, now: Fields, path: readonly string[]): SettingsChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  return names.flatMap((name) => {
    const [from, to, at] = [before[name], now[name], [...path, name]];
    if (isDeepStrictEqual(from, to)) return [];
    const isComparable = isTable(from) || (from === undefined && Object.keys(fieldsOf(to)).length > 0);
    return isTable(to) && isComparable ? differences(fieldsOf(from), to, at) : [{ path: at, value: to }];
  });
}

/** Leaves out our server and our hooks. An event of which only our hook is left is none. */
function withoutOurs(settings: Fields, servers: readonly string[], runDir: string): Fields {
  const { hooks, mcpServers, ...others } = settings;
  const events = Object.entries(fieldsOf(hooks)).map(([event, groups]) => [event, withoutOurHooks(groups, runDir)]);
  const kept = Object.entries(fieldsOf(mcpServers)).filter(([name]) => !servers.includes(name));
  return {
    ...others,
    hooks: Object.fromEntries(events.filter(([, groups]) => !isEmptyList(groups))) as Fields,
    mcpServers: Object.fromEntries(kept),
  };
}

function withoutOurHooks(groups: unknown, runDir: string): unknown {
  // A command of ours names the run's folder, which nothing of the user's does.
  return Array.isArray(groups) ? groups.filter((group) => !JSON.stringify(group).includes(runDir)) : groups;
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** Returns the names under which our bridge was put among the servers. */
function ourServers(written: Fields): string[] {
  return Object.entries(fieldsOf(written.mcpServers))
    .filter(([, server]) => fieldsOf(server).command === BRIDGE_COMMAND[0])
    .map(([name]) => name);
}

function valueAt(settings: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => fieldsOf(value)[name], settings);
}

/** Returns how far the first line inside the settings is indented. */
function indentOf(text: string): number {
  return /^( +)\S/m.exec(text)?.[1]?.length ?? 2;
}

function eolOf(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}
