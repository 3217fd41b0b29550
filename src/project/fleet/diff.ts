import { relative } from "node:path";
import { isPerdureError } from "../../protocol/errors.ts";
import { shellWords } from "../../util/shell-quote.ts";
import { isTable } from "../../util/fields.ts";
import { parseToml } from "../config/read.ts";
import { CONFIG_FILE } from "../find.ts";
import type { Fleet, FleetWorker } from "./read.ts";

// The changes that a person sees before a fleet file is trusted. They are made from the parsed file, not from its text: so every
// value of `env` is found however it is written, and no layout can deceive. The caller passes the lines through `printable`.

export interface ChangedLine {
  /** A blank marks the table that the lines below are in. */
  sign: "+" | "-" | " ";
  text: string;
}

/** Lists every added, removed or changed setting; comments and layout do not count. Values of `env` are shown as `…`. */
export function fleetChanges(trusted: string | null, present: string): ChangedLine[] {
  const before = trustedTables(trusted);
  const after = tablesOf(present);
  return [...new Set([...after.keys(), ...before.keys()])].flatMap((name) => {
    const [old, now] = [before.get(name), after.get(name)];
    const lines = tableChanges(old ?? new Map(), now ?? new Map());
    const sign = old === undefined ? "+" : now === undefined ? "-" : " ";
    const header: ChangedLine[] =
      name === "" || (sign === " " && lines.length === 0) ? [] : [{ sign, text: `[${name}]` }];
    return [...header, ...lines];
  });
}

/** Describes each worker on a line: its command line with the names of its variables, its folder, and whether git's hooks run for it. */
export function commandSummary({ root, workers }: Fleet): string[] {
  const hooks = ({ worktree }: FleetWorker): string =>
    worktree?.hooks === true ? ", a worktree made with the repository's git hooks" : "";
  const line = (worker: FleetWorker): string =>
    `${worker.name}: ${commandLine(worker)} in ${relative(root, worker.cwd) || "."}${hooks(worker)}`;
  // A line break in a word would make a line that looks like another worker's.
  return workers.map((worker) => line(worker).replaceAll("\n", "\\n"));
}

function commandLine({ env, vendor, command, args, declared }: FleetWorker): string {
  const variables = Object.keys(env).map((name) => `${name}=${HIDDEN}`);
  const words = [...(command ?? [vendor ?? ""]), ...(declared?.new ?? []), ...args];
  return [...variables, shellWords(words)].join(" ");
}

const HIDDEN = "…";

/** The settings of a table by their keys. */
type SettingsTable = Map<string, Setting>;
interface Setting {
  /** The line that is shown. */
  text: string;
  /** The full value that is compared. */
  value: string;
}

function tableChanges(before: SettingsTable, after: SettingsTable): ChangedLine[] {
  return [...new Set([...after.keys(), ...before.keys()])].flatMap((key) => {
    const [old, now] = [before.get(key), after.get(key)];
    if (old?.value === now?.value) return [];
    const lines: ChangedLine[] = [];
    if (old) lines.push({ sign: "-", text: old.text });
    if (now) lines.push({ sign: "+", text: old?.text === now.text ? `${now.text} (changed value)` : now.text });
    return lines;
  });
}

/** Reads the trusted file; no tables if there was none or it cannot be parsed any more, so that everything is new. */
function trustedTables(text: string | null): Map<string, SettingsTable> {
  try {
    return text === null ? new Map<string, SettingsTable>() : tablesOf(text);
  } catch (error) {
    if (!isPerdureError(error)) throw error;
    return new Map<string, SettingsTable>();
  }
}

/** Reads a file into tables: settings above all tables are in one without a name, each worker is a table of its own. */
function tablesOf(text: string): Map<string, SettingsTable> {
  const top: SettingsTable = new Map();
  const tables = new Map([["", top]]);
  for (const [key, value] of Object.entries(parseToml({ text, file: CONFIG_FILE }))) {
    if (!isTable(value)) addSetting(top, [key], value);
    else if (key === "workers") addWorkers(tables, value);
    else addSettings(newTable(tables, [key]), isSecret(key) ? [key] : [], value);
  }
  return tables;
}

function addWorkers(tables: Map<string, SettingsTable>, workers: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(workers)) {
    if (isTable(value)) addSettings(newTable(tables, ["workers", name]), [], value);
    else addSetting(newTable(tables, ["workers"]), [name], value);
  }
}

function newTable(tables: Map<string, SettingsTable>, path: string[]): SettingsTable {
  const table = tables.get(dotted(path)) ?? new Map<string, Setting>();
  tables.set(dotted(path), table);
  return table;
}

function addSettings(table: SettingsTable, path: string[], value: Record<string, unknown>): void {
  for (const [key, inner] of Object.entries(value)) {
    if (isTable(inner) && Object.keys(inner).length > 0) addSettings(table, [...path, key], inner);
    else addSetting(table, [...path, key], inner);
  }
}

function addSetting(table: SettingsTable, path: string[], value: unknown): void {
  const shown = path.some(isSecret) ? HIDDEN : asToml(value, true);
  table.set(dotted(path), { text: `${dotted(path)} = ${shown}`, value: asToml(value, false) });
}

function isSecret(key: string): boolean {
  return key.toLowerCase() === "env";
}

/** Formats a value as TOML on one line, with control characters escaped. */
function asToml(value: unknown, hideSecrets: boolean): string {
  if (Array.isArray(value)) return `[${value.map((item) => asToml(item, hideSecrets)).join(", ")}]`;
  if (!isTable(value)) return typeof value === "string" ? JSON.stringify(value) : String(value);
  const pairs = Object.entries(value).map(
    ([key, inner]) => `${dotted([key])} = ${hideSecrets && isSecret(key) ? HIDDEN : asToml(inner, hideSecrets)}`,
  );
  return pairs.length === 0 ? "{}" : `{ ${pairs.join(", ")} }`;
}

function dotted(path: readonly string[]): string {
  return path.map((key) => (/^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key))).join(".");
}
