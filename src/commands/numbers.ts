import { PerdureError } from "../protocol/errors.ts";

/** An option that must be a whole number in a range; null when it was not given. */
export function wholeNumber(
  option: string,
  value: string | boolean | undefined,
  range: { least: number; most: number },
): number | null {
  if (value === undefined) return null;
  const number = Number(value);
  if (typeof value === "string" && /^[0-9]{1,15}$/.test(value) && number >= range.least && number <= range.most)
    return number;
  throw new PerdureError(
    "usage",
    `${option} is ${JSON.stringify(value)}; it must be a whole number from ${range.least} to ${range.most}.`,
    { hint: `${option} ${range.least}` },
  );
}
