import { TURN_TIMEOUT_MS_MAX, TURNS_AT_ONCE_MAX, TURNS_PER_HOUR_MAX } from "../../limits/index.ts";
import { durationMs } from "../../util/duration.ts";

// What the values of `[turns]` must be, in perdure.toml and in the user's config.toml; turn-settings.ts says what they mean.

export const AT_ONCE = `a whole number from 1 to ${TURNS_AT_ONCE_MAX}`;
export const PER_HOUR = `a whole number from 0 to ${TURNS_PER_HOUR_MAX}`;
export const TIMEOUT = 'a duration in quotes of at most a day, such as "30m"';

export function isAtOnce(value: number): boolean {
  return isWholeUpTo(value, TURNS_AT_ONCE_MAX) && value > 0;
}

export function isPerHour(value: number): boolean {
  return isWholeUpTo(value, TURNS_PER_HOUR_MAX);
}

export function isTimeout(value: string): boolean {
  const ms = durationMs(value);
  return ms !== null && ms > 0 && ms <= TURN_TIMEOUT_MS_MAX;
}

/** Whether the values are what `schema.ts` says, for a reader that does not load it. */
export function isPlainTurns(table: Record<string, unknown>): boolean {
  const { at_once: atOnce = 1, per_hour: worker = 0, project_per_hour: project = 0, timeout = "1s" } = table;
  return (
    isAtOnce(Number(atOnce)) &&
    [atOnce, worker, project].every(isNumber) &&
    [worker, project].every(isHourly) &&
    isText(timeout) &&
    isTimeout(timeout)
  );
}

function isHourly(value: unknown): boolean {
  return isPerHour(Number(value));
}

function isNumber(value: unknown): boolean {
  return typeof value === "number";
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isWholeUpTo(value: number, most: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= most;
}
