import { join, relative } from "node:path";
import { parse, TomlError } from "smol-toml";
import { PerdureError } from "../protocol/errors.ts";
import { isErrno, readIfThere } from "../state/files.ts";
import { CONFIG_FILE, type FoundProject } from "./find.ts";
import { checkShape, type Shape } from "./shape.ts";

const DEFAULTS: Shape = {
  vendor: "name",
  args: "texts",
  prompt: "text",
  worktree: "flag",
  copy: "texts",
  group: "name",
  env: "text table",
  cwd: "text",
  mode: ["tmux", "turn"],
  restart: ["never", "on-failure", "always"],
};

const CONTEXT: Shape = { dir: "text", ext: "text" };
const POLICY: Shape = { agents_may: "texts", environment: "texts" };

const PROJECT_FILE: Shape = {
  project: "name",
  name: "name",
  defaults: DEFAULTS,
  workers: { "*": { ...DEFAULTS, count: "count", command: "texts", new: "texts", resume: "texts" } },
  context: CONTEXT,
  records: { dir: "text" },
  policy: POLICY,
};

const USER_FILE: Shape = { name: "name", context: CONTEXT, policy: POLICY };

export interface Config {
  project?: string;
  name?: string;
  context?: { dir?: string; ext?: string };
  records?: { dir?: string };
  workers?: Record<string, { count?: number; group?: string }>;
  policy?: { agents_may?: string[]; environment?: string[] };
}

/** The perdure.toml of the working tree the caller stands in; a worktree without one uses the main tree's. */
export function readProjectConfig(project: FoundProject): Config {
  return (
    read(join(project.here, CONFIG_FILE), PROJECT_FILE) ?? read(join(project.root, CONFIG_FILE), PROJECT_FILE) ?? {}
  );
}

/** The one in this very folder, or null. */
export function readConfigAt(folder: string): Config | null {
  return read(join(folder, CONFIG_FILE), PROJECT_FILE);
}

export function readUserConfig(file: string): Config {
  return read(file, USER_FILE) ?? {};
}

function read(file: string, shape: Shape): Config | null {
  const text = readConfig(file);
  if (text === null) return null;
  const shown = file.startsWith(process.cwd()) ? relative(process.cwd(), file) : file;
  const value = parseToml(text, shown);
  checkShape(value, shape, { file: shown, text });
  return value;
}

function readConfig(file: string): string | null {
  try {
    return readIfThere(file);
  } catch (error) {
    if (!isErrno(error, "EISDIR", "EACCES")) throw error;
    const why = isErrno(error, "EISDIR") ? "it is a folder" : "permission denied";
    throw new PerdureError("usage", `${file} cannot be read: ${why}.`, { hint: `ls -ld ${file}` });
  }
}

function parseToml(text: string, file: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const [reason = "it is not TOML"] = cause.message.replace(/^Invalid TOML document: /, "").split("\n");
    throw new PerdureError("usage", `${file}:${cause.line}: ${reason}.`, { hint: `edit ${file}`, cause });
  }
}
