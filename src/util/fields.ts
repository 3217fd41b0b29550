// Reading what somebody else has written: JSON or TOML, of which nothing is known before it was looked at.

/** A table of fields: no list, and not one of TOML's dates. */
export function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** The fields of a table; none for anything else. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isTable(value) ? value : {};
}

/** A text with something in it; null for anything else. */
export function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** Parses a JSON object; null for anything else: half a line, garbage, a file its writer is in the middle of. */
export function parseObject(text: string): Record<string, unknown> | null {
  if (!text.includes("{")) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isTable(value) ? value : null;
  } catch {
    return null;
  }
}
