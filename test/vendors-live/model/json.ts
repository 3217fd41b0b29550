export type Body = Readonly<Record<string, unknown>>;

/** Reads an unknown value as an object: a client's body that is not as expected is empty, never a crash. */
export function asObject(value: unknown): Body {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

export function asArray(value: unknown): Body[] {
  return Array.isArray(value) ? value.map(asObject) : [];
}

export function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
