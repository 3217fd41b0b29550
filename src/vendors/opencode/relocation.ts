import { fieldsOf, isTable, parseObject, textOf } from "../../util/fields.ts";
import type { ArchiveRelocation } from "../shared/relocation.ts";

/** opencode runs a conversation in the folder that its record names; one that is taken in again has the folder it is given. */
export const opencodeRelocation: ArchiveRelocation = { kind: "archive", rewrite };

function rewrite(printed: string, folder: string): string | null {
  const whole = parseObject(printed);
  const info = fieldsOf(whole?.info);
  const from = textOf(info.directory);
  if (whole === null || from === null || !Array.isArray(whole.messages)) return null;
  const messages = whole.messages.map((message: unknown) => relocatedMessage(message, from, folder));
  return JSON.stringify({ ...whole, info: { ...info, directory: folder }, messages });
}

/** An answer says in which folder it was given, and what the root of that was. */
function relocatedMessage(message: unknown, from: string, to: string): unknown {
  const fields = fieldsOf(message);
  const info = fieldsOf(fields.info);
  if (!isTable(info.path)) return message;
  const { cwd, root } = info.path;
  const path = { ...info.path, cwd: moved(cwd, from, to), root: moved(root, from, to) };
  return { ...fields, info: { ...info, path } };
}

function moved(path: unknown, from: string, to: string): unknown {
  if (typeof path !== "string") return path;
  return path === from || path.startsWith(`${from}/`) ? `${to}${path.slice(from.length)}` : path;
}
