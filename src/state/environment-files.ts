import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { isTable } from "../util/fields.ts";
import { sha256 } from "../util/sha256.ts";
import { readIfThere } from "./files.ts";
import { checkSafeFolder } from "./safe-folder.ts";

/** The variables of one recorded environment, and those of a worker's entry in the fleet file, which win over them. */
export interface EnvironmentFile {
  variables: Record<string, string>;
  own: Record<string, string>;
}

const NAME = /^[0-9a-f]{64}$/;

/**
 * Keeps an environment in a file that its owner alone may read, and returns the file's name, the digest of what is in it: the same
 * environment is one file, however many workers have it. The file is on disk when this returns.
 */
export function keepEnvironment(folder: string, environment: EnvironmentFile): string {
  const text = textOf(environment);
  const name = sha256(text);
  if (readIfThere(join(folder, name)) === text) return name;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  checkSafeFolder(folder);
  writeDurably(folder, name, text);
  return name;
}

/** Reads an environment; null for a file that is gone, or is not what was written. */
export function readEnvironment(folder: string, name: string): EnvironmentFile | null {
  const file = join(folder, name);
  if (!NAME.test(name) || lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) return null;
  const text = readIfThere(file);
  if (text === null || sha256(text) !== name) return null;
  const { variables, own } = JSON.parse(text) as Partial<EnvironmentFile>;
  return isTable(variables) && isTable(own) ? { variables, own } : null;
}

/** Removes every file that is not needed any more, and what a killed daemon has left half written. */
export function dropEnvironments(folder: string, needed: ReadonlySet<string>): void {
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  for (const name of readdirSync(folder)) {
    if (!needed.has(name)) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/** Writes the variables in the order of their names, because the order in a process says nothing. */
function textOf({ variables, own }: EnvironmentFile): string {
  const sorted = (record: Record<string, string>): object =>
    Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return `${JSON.stringify({ variables: sorted(variables), own: sorted(own) })}\n`;
}

/** A store on disk must not name a file that a power cut takes away, so the file is synced first, and its name with it. */
function writeDurably(folder: string, name: string, text: string): void {
  const temporary = join(folder, `${name}.tmp`);
  rmSync(temporary, { force: true });
  const fd = openSync(temporary, "wx", 0o600);
  try {
    writeFileSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(temporary, join(folder, name));
  const parent = openSync(folder, "r");
  try {
    fsyncSync(parent);
  } finally {
    closeSync(parent);
  }
}
