import { isPerdureError, PerdureError } from "../protocol/errors.ts";
import { checkName, nearest } from "../protocol/names.ts";
import { own } from "../protocol/own.ts";

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
  if (kind === "count") return Number.isInteger(value) && (value as number) > 0 ? null : "a whole number above 0";
  if (kind === "texts") return isTextList(value) ? null : "a list of texts in quotes";
  return isTable(value) && Object.values(value).every((item) => typeof item === "string") ? null : "a table of texts";
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function isShape(kind: Kind | Shape): kind is Shape {
  return typeof kind === "object" && !Array.isArray(kind);
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function unknownKey(path: string[], known: string[], source: ConfigSource): PerdureError {
  const key = path.at(-1) ?? "";
  const [best] = nearest(key, known);
  return new PerdureError("usage", `${position(source, path)}: unknown key ${JSON.stringify(path.join("."))}.`, {
    hint: best ? `did you mean ${best}?` : `known here: ${known.filter((k) => k !== "*").join(", ")}`,
  });
}

function wrongValue(path: string[], wanted: string, value: unknown, source: ConfigSource): PerdureError {
  // Values of `env` may be secrets: the type says enough.
  const got = path.includes("env") ? typeof value : JSON.stringify(value);
  return new PerdureError("usage", `${position(source, path)}: ${path.join(".")} must be ${wanted}, not ${got}.`, {
    hint: `edit ${source.file}`,
  });
}

function atLine<T>(source: ConfigSource, path: string[], check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!isPerdureError(error)) throw error;
    throw new PerdureError(error.code, `${position(source, path)}: ${error.message}`, {
      hint: error.hint ?? undefined,
    });
  }
}

function position(source: ConfigSource, path: string[]): string {
  return `${source.file}:${lineOf(source.text, path)}`;
}

/** The line that sets the key, found in the text: the parser keeps values, not positions. */
function lineOf(text: string, path: string[]): number {
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
