import { HOUR_MS } from "../../../limits/index.ts";
import { PerdureError } from "../../../protocol/errors.ts";
import { durationMs } from "../../../util/duration.ts";

/** Parses an option that must be a whole number in a range; null when it was not given. */
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

/**
 * Parses a duration such as `30s`, `10m`, `2h` or `1d` into milliseconds, up to so many hours; a bare number is seconds. Null when it
 * was not given.
 */
export function duration(
  option: string,
  value: string | boolean | undefined,
  hoursMax = Number.POSITIVE_INFINITY,
): number | null {
  if (typeof value !== "string") return null;
  const ms = durationMs(value);
  if (ms !== null && ms > hoursMax * HOUR_MS) {
    throw new PerdureError("usage", `${option} is ${JSON.stringify(value)}; the limit is ${hoursMax}h.`, {
      hint: `${option} ${hoursMax}h`,
    });
  }
  if (ms !== null && ms > 0) return ms;
  throw new PerdureError(
    "usage",
    `${option} is ${JSON.stringify(value)}; it must be a duration, such as 30s, 10m or 2h.`,
    {
      hint: `${option} 10m`,
    },
  );
}
