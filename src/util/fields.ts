// Readers for JSON and TOML that somebody else has written, so that any value may have any type.

/** True for a table of fields; false for a list and for one of TOML's dates. */
export function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** Returns the fields of a table; none for anything else. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isTable(value) ? value : {};
}

/** Returns a text that is not empty; null for anything else. */
export function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** Parses a JSON object; null for anything else, such as half a line, garbage, or a file that is being written. */
export function parseObject(text: string): Record<string, unknown> | null {
  if (!text.includes("{")) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isTable(value) ? value : null;
  } catch {
    return null;
  }
}
