import { FLEET_WORKERS_MAX } from "../../limits/index.ts";
import { isPerdureError, PerdureError } from "../../protocol/errors.ts";
import { checkName, nearest, shorten } from "../../protocol/names.ts";
import { isTable } from "../../util/fields.ts";
import { own } from "../../util/own.ts";

/** What a value of a configuration file may be. A nested shape is a table; `{ "*": … }` takes any legal name. */
type Kind = "text" | "name" | "texts" | "flag" | "count" | "text table" | readonly string[];
export interface Shape {
  readonly [key: string]: Kind | Shape;
}

/** Throws at the first key or value that is wrong, with file, line and the nearest right key. */
export function checkShape(value: Record<string, unknown>, shape: Shape, source: ConfigSource): void {
  checkTable(value, shape, [], source);
}

export interface ConfigSource {
  file: string;
  text: string;
}

function checkTable(table: Record<string, unknown>, shape: Shape, path: string[], source: ConfigSource): void {
  for (const [key, value] of Object.entries(table)) {
    const here = [...path, key];
    const kind = own(shape, key) ?? shape["*"];
    if (kind === undefined) throw unknownKey(here, Object.keys(shape), source);
    if (own(shape, key) === undefined) atLine(source, here, () => checkName(key));
    if (isShape(kind)) {
      if (!isTable(value)) throw wrongValue(here, "a table", value, source);
      checkTable(value, kind, here, source);
    } else {
      checkValue(value, kind, here, source);
    }
  }
}

function checkValue(value: unknown, kind: Kind, path: string[], source: ConfigSource): void {
  if (kind === "name") {
    if (typeof value !== "string") throw wrongValue(path, "a name in quotes", value, source);
    atLine(source, path, () => checkName(value));
    return;
  }
  const wanted = whatIsWrong(value, kind);
  if (wanted !== null) throw wrongValue(path, wanted, value, source);
}

function whatIsWrong(value: unknown, kind: Exclude<Kind, "name">): string | null {
  if (typeof kind === "object") return kind.includes(value as string) ? null : `one of ${kind.join(", ")}`;
  if (kind === "text") return typeof value === "string" ? null : "a text in quotes";
  if (kind === "flag") return typeof value === "boolean" ? null : "true or false";
  if (kind === "count") return isCount(value) ? null : `a whole number from 1 to ${FLEET_WORKERS_MAX}`;
  if (kind === "texts") return isTextList(value) ? null : "a list of texts in quotes";
  return isTable(value) && Object.values(value).every((item) => typeof item === "string") ? null : "a table of texts";
}

function isCount(value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value) && value > 0 && value <= FLEET_WORKERS_MAX;
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function isShape(kind: Kind | Shape): kind is Shape {
  return typeof kind === "object" && !Array.isArray(kind);
}

function unknownKey(path: string[], known: string[], source: ConfigSource): PerdureError {
  const key = path.at(-1) ?? "";
  const [best] = nearest(key, known);
  const hint = best ? `did you mean ${best}?` : `known here: ${known.filter((k) => k !== "*").join(", ")}`;
  return configError(source, path, `unknown key ${JSON.stringify(path.join("."))}.`, hint);
}

function wrongValue(path: string[], wanted: string, value: unknown, source: ConfigSource): PerdureError {
  const got = path.includes("env") ? typeof value : shown(value);
  return configError(source, path, `${path.join(".")} must be ${wanted}, not ${got}.`);
}

/** Not what is inside a list or a table: that may be `env` in the wrong place, with secrets. */
function shown(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (value instanceof Date) return "a date";
  return isTable(value) ? "a table" : JSON.stringify(typeof value === "string" ? shorten(value) : value);
}

export function atLine<T>(source: ConfigSource, path: readonly string[], check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!isPerdureError(error)) throw error;
    throw configError(source, path, error.message, error.hint ?? undefined);
  }
}

/** An error of the file: where, what, and what to do about it. */
export function configError(
  source: ConfigSource,
  path: readonly string[],
  message: string,
  hint = `edit ${source.file}`,
): PerdureError {
  return new PerdureError("usage", `${position(source, path)}: ${message}`, { hint });
}

function position(source: ConfigSource, path: readonly string[]): string {
  return `${source.file}:${lineOf(source.text, path)}`;
}

/** The line that sets the key, found in the text: the parser keeps values, not positions. */
function lineOf(text: string, path: readonly string[]): number {
  const wanted = path.join(".");
  let table = "";
  const lines = text.split("\n");
  for (const [index, line] of lines.entries()) {
    const header = /^\s*\[+\s*([^\]]+?)\s*\]/.exec(line)?.[1];
    if (header !== undefined) table = header.replace(/\s*\.\s*/g, ".").replace(/["']/g, "");
    const key = header === undefined ? /^\s*([A-Za-z0-9_."'-]+)\s*=/.exec(line)?.[1] : undefined;
    const full = key === undefined ? table : [table, key.replace(/["']/g, "")].filter(Boolean).join(".");
    if ((key !== undefined || header !== undefined) && (full === wanted || full.startsWith(`${wanted}.`)))
      return index + 1;
    if (key !== undefined && wanted.startsWith(`${full}.`) && line.includes(path.at(-1) ?? "")) return index + 1;
  }
  return 1;
}
