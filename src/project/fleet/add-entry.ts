import { isDeepStrictEqual } from "node:util";
import { isPerdureError } from "../../protocol/errors.ts";
import { fieldsOf } from "../../util/fields.ts";
import type { ConfigSource } from "../config/errors.ts";
import { parseToml, type WorkerEntry } from "../config/read.ts";

/** Writes an entry as the table that a fleet file would have of it, a line each. */
export function entryLines(name: string, entry: WorkerEntry): string[] {
  return [`[workers.${tomlKey(name)}]`, ...Object.entries(entry).map(([key, value]) => `${key} = ${tomlValue(value)}`)];
}

/**
 * Returns the text with one more table at its end; null unless the parser reads exactly that table more from it. Whatever the file
 * has at its end (an open list, a table in another form) would otherwise make something else of the lines.
 */
export function withEntry({ text, file }: ConfigSource, name: string, entry: WorkerEntry): string | null {
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  const gap = text === "" ? "" : text.endsWith("\n") ? end : end + end;
  const after = `${text}${gap}${entryLines(name, entry).join(end)}${end}`;
  return hasOnlyMore({ text, file }, { text: after, file }, name, entry) ? after : null;
}

/**
 * Returns the text with an entry's tables under another name; null unless the parser reads exactly that difference: an entry can also
 * be written in ways of which the name cannot be changed in place.
 */
export function withRenamedEntry({ text, file }: ConfigSource, from: string, to: string): string | null {
  const header = /^([ \t]*\[[ \t]*workers[ \t]*\.[ \t]*)([A-Za-z0-9_-]+|"[^"\\\n]*"|'[^'\n]*')(?=[ \t]*[.\]])/gm;
  const after = text.replaceAll(header, (whole, before: string, key: string) => {
    return key.replace(/^(["'])(.*)\1$/, "$2") === from ? `${before}${tomlKey(to)}` : whole;
  });
  const [old, now] = [text, after].map((each) => parsed({ text: each, file }));
  if (after === text || !old || !now) return null;
  const renamed = Object.entries(fieldsOf(old.workers)).map(([name, entry]) => [name === from ? to : name, entry]);
  const wanted = { ...old, workers: Object.fromEntries(renamed) as unknown };
  const isOnlyThat = renamed.length === Object.keys(fieldsOf(now.workers)).length;
  return isOnlyThat && isDeepStrictEqual(plain(now), plain(wanted)) ? after : null;
}

function hasOnlyMore(before: ConfigSource, after: ConfigSource, name: string, entry: WorkerEntry): boolean {
  const [old, now] = [before, after].map(parsed);
  if (!old || !now) return false;
  const { [name]: added, ...others } = fieldsOf(now.workers);
  return (
    isDeepStrictEqual(plain(added), entry) &&
    isDeepStrictEqual(plain(others), plain(old.workers ?? {})) &&
    isDeepStrictEqual(plain({ ...now, workers: null }), plain({ ...old, workers: null }))
  );
}

function parsed(source: ConfigSource): Record<string, unknown> | null {
  try {
    return parseToml(source);
  } catch (error) {
    if (isPerdureError(error)) return null;
    throw error;
  }
}

/** Copies tables into ordinary objects: the parser's own have no prototype, and would equal none. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}

function tomlKey(name: string): string {
  return /^[A-Za-z0-9_-]+$/.test(name) ? name : tomlText(name);
}

function tomlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(", ")}]`;
  return typeof value === "string" ? tomlText(value) : String(value);
}

/** Quotes a text as JSON does, which TOML reads but for one character. */
function tomlText(text: string): string {
  return JSON.stringify(text).replaceAll("\u007f", "\\u007f");
}
