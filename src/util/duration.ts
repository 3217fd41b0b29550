const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads a duration such as `30s`, `10m`, `2h` or `1d` as milliseconds; a bare number is seconds. Null for any other text. */
export function durationMs(text: string): number | null {
  const [, digits = "", unit = "s"] = /^(\d{1,9})(ms|s|m|h|d)?$/.exec(text) ?? [];
  return digits === "" ? null : Number(digits) * (UNITS_MS[unit] ?? 0);
}
