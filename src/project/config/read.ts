import { join, relative } from "node:path";
import { parse, TomlError } from "smol-toml";
import { CONFIG_BYTES_MAX } from "../../limits/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { isErrno, readIfThere } from "../../state/files.ts";
import { CONFIG_FILE, type FoundProject } from "../find.ts";
import { checkShape, type ConfigSource, type Shape } from "./shape.ts";

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
  defaults?: WorkerDefaults;
  workers?: Record<string, WorkerEntry>;
  policy?: { agents_may?: string[]; environment?: string[] };
}

/** What `[defaults]` may say for all workers. */
export interface WorkerDefaults {
  vendor?: string;
  args?: string[];
  prompt?: string;
  worktree?: boolean;
  copy?: string[];
  group?: string;
  env?: Record<string, string>;
  cwd?: string;
  mode?: "tmux" | "turn";
  restart?: "never" | "on-failure" | "always";
}

export interface WorkerEntry extends WorkerDefaults {
  count?: number;
  command?: string[];
  new?: string[];
  resume?: string[];
}

/** A file that was read: what it says, and its text for whoever has to point at a line. */
export interface ConfigText {
  config: Config;
  source: ConfigSource;
}

/** The perdure.toml of the working tree the caller stands in; a worktree without one uses the main tree's. */
export function readProjectConfig(project: FoundProject): Config {
  return readConfigAt(project.here) ?? readConfigAt(project.root) ?? {};
}

/** The one in this very folder, or null. */
export function readConfigAt(folder: string): Config | null {
  return readConfigText(folder)?.config ?? null;
}

export function readConfigText(folder: string): ConfigText | null {
  return read(join(folder, CONFIG_FILE), PROJECT_FILE);
}

export function readUserConfig(file: string): Config {
  return read(file, USER_FILE)?.config ?? {};
}

function read(file: string, shape: Shape): ConfigText | null {
  const text = readConfig(file);
  if (text === null) return null;
  const source = { file: file.startsWith(process.cwd()) ? relative(process.cwd(), file) : file, text };
  const config = parseToml(source);
  checkShape(config, shape, source);
  return { config, source };
}

function readConfig(file: string): string | null {
  try {
    const text = readIfThere(file);
    if (text === null || text.length <= CONFIG_BYTES_MAX) return text;
  } catch (error) {
    if (!isErrno(error, "EISDIR", "EACCES")) throw error;
    const why = isErrno(error, "EISDIR") ? "it is a folder" : "permission denied";
    throw new PerdureError("usage", `${file} cannot be read: ${why}.`, { hint: `ls -ld ${file}` });
  }
  throw new PerdureError("usage", `${file} has more than ${CONFIG_BYTES_MAX} bytes.`, { hint: `edit ${file}` });
}

/** Not with the parser's error as cause: that quotes the lines around, and there may be a secret in them. */
export function parseToml({ text, file }: ConfigSource): Record<string, unknown> {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [reason = "it is not TOML"] = error.message.replace(/^Invalid TOML document: /, "").split("\n");
    throw new PerdureError("usage", `${file}:${error.line}: ${reason}.`, { hint: `edit ${file}` });
  }
}
