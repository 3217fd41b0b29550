import type * as z from "zod/mini";
import { shorten } from "../../protocol/names.ts";
import { isTable } from "../../util/fields.ts";
import { projectFile, userFile } from "./schema.ts";

// Loaded when there is a file to check, by `require`: see read.ts. It throws no error of its own for that reason.

export type FileKind = "project" | "user";

/** Something wrong with a configuration file. */
export interface Problem {
  /** The keys and positions in lists that lead to it. */
  path: (string | number)[];
  message: string;
  hint: string | null;
}

/** Everything that is wrong with a file's values, in no particular order. */
export function problemsOf(values: Record<string, unknown>, kind: FileKind): Problem[] {
  const { error } = (kind === "project" ? projectFile : userFile).safeParse(values);
  return (error?.issues ?? []).map((issue) => problemOf(issue, values));
}

function problemOf(issue: z.core.$ZodIssue, values: Record<string, unknown>): Problem {
  const path = issue.path as (string | number)[];
  if (issue.code === "unrecognized_keys") {
    const unknown = [...path, issue.keys[0] ?? ""];
    return { path: unknown, message: `unknown key ${JSON.stringify(unknown.join("."))}.`, hint: issue.message };
  }
  const said = issue.code === "invalid_key" ? issue.issues[0] : issue;
  if (said?.code === "custom" && said.params !== undefined) {
    return { path, message: said.message, hint: said.params.hint as string | null };
  }
  const setting = settingOf(path);
  const value = valueAt(values, setting);
  const got = isVariables(setting) ? typeof value : shown(value);
  return { path, message: `${setting.join(".")} must be ${issue.message}, not ${got}.`, hint: null };
}

/** The setting that a path leads into: a list and the variables are one setting each, whatever is wrong inside. */
function settingOf(path: (string | number)[]): (string | number)[] {
  const end = path.findIndex((part, at) => typeof part === "number" || isVariables(path.slice(0, at)));
  return end < 0 ? path : path.slice(0, end);
}

/** Whether this is an `env`, whose values are never repeated. */
function isVariables(path: (string | number)[]): boolean {
  return path.at(-1) === "env" && path.length === (path[0] === "workers" ? 3 : 2);
}

function valueAt(values: Record<string, unknown>, path: (string | number)[]): unknown {
  return path.reduce<unknown>((value, key) => (isTable(value) ? value[key] : undefined), values);
}

/** A value as an error may repeat it; not what is inside a list or a table: that may be `env` in the wrong place, with secrets. */
function shown(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (value instanceof Date) return "a date";
  return isTable(value) ? "a table" : JSON.stringify(typeof value === "string" ? shorten(value) : value);
}
