import type * as z from "zod/mini";
import { calls, type CallName } from "../../protocol/calls/index.ts";
import { WIRE_NAMES } from "../../protocol/calls/wire-names.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { hintOf, verb } from "../../protocol/hint.ts";
import { shorten } from "../../protocol/names.ts";
import { quickCheckOf, type QuickCheck } from "./quick-check.ts";

type Issue = z.core.$ZodIssue;

/** The calls by their old names, which clients still send. */
const OLD_NAMES: ReadonlyMap<string, string> = new Map(Object.entries(WIRE_NAMES).map(([call, word]) => [word, call]));

const OTHER_VERSION = hintOf`the daemon may have another version: ${verb("daemon", "stop")} (workers keep running), then try again`;

/** Returns the call of this name, new or old. */
export function callNamed(word: unknown): CallName {
  const name = typeof word === "string" ? (OLD_NAMES.get(word) ?? word) : null;
  if (name !== null && isCall(name)) return name;
  throw new PerdureError("usage", `There is no call ${shorten(JSON.stringify(word) ?? "undefined")}.`, {
    hint: OTHER_VERSION,
  });
}

/** Returns the parameters of a call as its handler takes them; throws with what is wrong with them. */
export function parseParams(name: CallName, params: unknown): unknown {
  if (quickCheckFor(name)?.(params) === true) return params;
  const parsed = calls[name].params.safeParse(params);
  if (parsed.success) return parsed.data;
  throw new PerdureError("usage", `Call ${name}: ${problemOf(parsed.error.issues, params)}.`, { hint: OTHER_VERSION });
}

const quickChecks = new Map<CallName, QuickCheck | null>();

function quickCheckFor(name: CallName): QuickCheck | null {
  let check = quickChecks.get(name);
  if (check === undefined) quickChecks.set(name, (check = quickCheckOf(calls[name].params)));
  return check;
}

function isCall(name: string): name is CallName {
  return Object.hasOwn(calls, name);
}

/** Describes the first problem: the name of the field and the expected value. */
function problemOf([issue]: readonly Issue[], params: unknown): string {
  if (issue === undefined) return "the parameters are not valid";
  const field = issue.path.length === 0 ? "params" : shorten(issue.path.join("."));
  if (issue.code === "unrecognized_keys") return `${field} has an unknown field ${shorten(issue.keys.join(", "))}`;
  const isMissing = issue.path.length > 0 && valueAt(params, issue.path) === undefined;
  return isMissing ? `${field} is missing; it must be ${expectedBy(issue)}` : `${field} must be ${expectedBy(issue)}`;
}

function expectedBy(issue: Issue): string {
  if (issue.code === "invalid_type") return TYPES[issue.expected] ?? issue.expected;
  if (issue.code === "too_big") return `at most ${issue.maximum}${unitOf(issue.origin)}`;
  if (issue.code === "too_small") return `at least ${issue.minimum}${unitOf(issue.origin)}`;
  if (issue.code === "invalid_value") return `one of ${issue.values.map((value) => JSON.stringify(value)).join(", ")}`;
  if (issue.code !== "invalid_format") return "valid";
  return "prefix" in issue ? `a text that starts with "${String(issue.prefix)}"` : `a text like ${issue.pattern}`;
}

const TYPES: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

function unitOf(origin: string): string {
  if (origin === "string") return " characters long";
  return origin === "array" ? " entries long" : "";
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (at, key) => (typeof at === "object" && at !== null ? (at as Record<PropertyKey, unknown>)[key] : undefined),
    value,
  );
}
