import { PerdureError } from "../protocol/errors.ts";

// What a program without types may have given in the place of what was asked for is said by name, before anything is done with it.

/** Returns the value if it is a text that a command line can carry. */
export function requireText(what: string, value: unknown): string {
  if (typeof value !== "string") throw odd(what, value, "a text", `give ${what} in quotes`);
  if (!value.includes("\0")) return value;
  throw new PerdureError("usage", `${what} has a NUL character in it: ${JSON.stringify(value)}.`, {
    hint: `give ${what} without it`,
  });
}

/** Returns the options if they are an object. */
export function requireOptions<T extends object>(value: T): T {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw odd("the last argument", value, "an object of options", "give options by name, { … }, or leave them out");
}

/** Returns the list if it is one, of texts. */
export function requireTexts(what: string, value: unknown): readonly string[] {
  if (!Array.isArray(value))
    throw odd(`the list of ${what}`, value, "an array", "give one text in brackets, too: [TEXT]");
  return value.map((each) => requireText(`one of ${what}`, each));
}

/** Returns a time in milliseconds, if it is one that can be waited for. */
export function requireMs(what: string, value: unknown, most: number): number {
  if (typeof value === "number" && value >= 0 && value <= most) return value;
  const given = typeof value === "number" ? String(value) : kindOf(value);
  throw new PerdureError("usage", `${what} is ${given}; it must be a number of milliseconds, at most ${most}.`);
}

/** Returns the function if it is one. */
export function requireFunction<T>(what: string, value: T): T {
  if (typeof value === "function") return value;
  throw odd(what, value, "a function", `give ${what} as a function`);
}

function odd(what: string, value: unknown, wanted: string, hint: string): PerdureError {
  return new PerdureError("usage", `${what} is ${kindOf(value)}; it must be ${wanted}.`, { hint });
}

function kindOf(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "a list" : typeof value;
}
