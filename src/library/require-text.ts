import { PerdureError } from "../protocol/errors.ts";

/** Returns the value if it is a text; throws what a program without types has given in its surroundings. */
export function requireText(what: string, value: unknown): string {
  if (typeof value === "string") return value;
  const given = value === null ? "null" : typeof value;
  throw new PerdureError("usage", `${what} is ${given}; it must be a text.`, { hint: `give ${what} in quotes` });
}
