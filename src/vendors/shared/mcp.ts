import { dirname, join, resolve } from "node:path";
import { VENDOR_FILE_BYTES_MAX } from "../../limits/index.ts";
import { TOOL_SERVER } from "../../protocol/tools.ts";
import { readIfReadable } from "../../state/bounded-read.ts";
import { DIST } from "../../state/paths.ts";
import { fieldsOf } from "../../util/fields.ts";
import { parseSettings } from "./jsonc.ts";

/** The program beside an agent that connects it with the daemon's tools, and its arguments; the token is in the environment. */
export const BRIDGE_COMMAND: readonly [program: string, ...args: string[]] = [
  join(DIST, "..", "bin", "perdure.js"),
  "mcp",
];

/** The variables without which the bridge cannot act for its run, for programs that hand on only what they are told to. */
export const BRIDGE_VARIABLES: readonly string[] = [
  "PERDURE_RUN",
  "PERDURE_TOKEN",
  "PERDURE_SOCKET",
  "PERDURE_HOME",
  "XDG_STATE_HOME",
  "XDG_CONFIG_HOME",
];

/**
 * Returns the name of our server: the usual one, or the usual one with a number where the user has a server of that name. Theirs must
 * neither be hidden by ours nor be trusted for it. Some programs take `-` and `_` for the same.
 */
export function freeServerName(taken: readonly string[]): string {
  const names = new Set(taken.map((name) => name.toLowerCase().replaceAll("-", "_")));
  for (let number = 1; ; number++) {
    const name = number === 1 ? TOOL_SERVER : `${TOOL_SERVER}${number}`;
    if (!names.has(name)) return name;
  }
}

/** Reads the names of the servers in a file of settings that may have comments; none where the file is missing or cannot be read. */
export function serversAt(file: string, key = "mcpServers"): string[] {
  return serversIn(readIfReadable(file, VENDOR_FILE_BYTES_MAX), key);
}

/** Reads the names of the servers in a text of settings. Most name none that matters here, and are not parsed: some are long. */
export function serversIn(text: string, key = "mcpServers"): string[] {
  return mayNameOurs(text) ? Object.keys(fieldsOf(parseSettings(text)[key])) : [];
}

/** Tells whether a text has a server of our name in it, in whatever form. */
export function mayNameOurs(text: string): boolean {
  return text.toLowerCase().includes(TOOL_SERVER);
}

/** Reads the names of the servers that an option gives, each value of which is a file or the text itself. */
export function serversGiven(args: readonly string[], option: string, cwd: string): string[] {
  return valuesOf(args, option).flatMap((value) =>
    value.trimStart().startsWith("{") ? serversIn(value) : serversAt(resolve(cwd, value.replace(/^@/, ""))),
  );
}

/** Returns the paths of a file in a folder and in all folders above it. */
export function upwards(folder: string, name: string): string[] {
  const parent = dirname(folder);
  return [join(folder, name), ...(parent === folder ? [] : upwards(parent, name))];
}

/** Returns the values of an option that may come several times, and may take all words up to the next option. */
function valuesOf(args: readonly string[], option: string): string[] {
  return args.flatMap((word, at) => {
    if (word.startsWith(`${option}=`)) return [word.slice(option.length + 1)];
    if (word !== option) return [];
    const rest = args.slice(at + 1);
    const end = rest.findIndex((each) => each.startsWith("-"));
    return end < 0 ? rest : rest.slice(0, end);
  });
}
