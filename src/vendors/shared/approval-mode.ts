import { own } from "../../util/own.ts";
import type { ArgumentTable } from "./arguments.ts";
import { optionGiven, valuesOf } from "./turn-arguments.ts";

// Gemini, and qwen after it, have an approval mode, and tools that are allowed whatever that says.

/** Returns the argument that lets the program run commands without asking anybody; null if there is none. */
export function yoloIn(args: readonly string[], table: ArgumentTable): string | null {
  const given = optionGiven(args, table, "-y", "--yolo");
  if (given !== null) return given;
  return valuesOf(args, table, "--approval-mode").includes("yolo") ? "--approval-mode yolo" : null;
}

/** Says what the program may do without a person; `byMode` has what the mode adds to reading. */
export function mayUnder(
  args: readonly string[],
  table: ArgumentTable,
  byMode: Readonly<Record<string, string>>,
): string {
  if (yoloIn(args, table) !== null) return "edit any file and run any command without asking";
  const mode = valuesOf(args, table, "--approval-mode").at(-1) ?? "";
  const allowed = valuesOf(args, table, "--allowed-tools").flatMap((tools) => tools.split(","));
  const tools = allowed.length === 0 ? "" : `; use ${allowed.join(", ")} without asking`;
  const may =
    own(byMode, mode) ?? "read files and answer; edits and commands are refused, but for what its settings allow";
  return `${may}${tools}`;
}
