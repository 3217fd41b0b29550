import { lstatSync, opendirSync, type BigIntStats } from "node:fs";
import { join } from "node:path";
import { DROP_ENTRIES_MAX, DROP_OPEN_MS, DROP_SETTLE_MS } from "../../../limits/index.ts";
import { isErrno } from "../../../state/files.ts";
import type { DropFolder } from "./drop-folders.ts";

/** A file that somebody has put into an agent's folder. */
export interface DroppedFile extends DropFolder {
  /** The agent, as the folder is called after it. */
  agent: string;
  name: string;
  path: string;
  stats: BigIntStats;
}

const AGENT_FOLDER = /^to_(.+)$/s;

/** Lists the files of a project's agents, by name: names of such files begin with the time. The folder need not exist. */
export function droppedFiles(drop: DropFolder): DroppedFile[] {
  return entriesOf(drop.folder).flatMap((folder) => {
    const agent = AGENT_FOLDER.exec(folder)?.[1];
    const path = join(drop.folder, folder);
    // A link that git carries could lead anywhere.
    if (agent === undefined || statsOf(path)?.isDirectory() !== true) return [];
    const names = entriesOf(path).filter((name) => !isUnfinished(name));
    return names.toSorted().flatMap((name): DroppedFile[] => {
      const stats = statsOf(join(path, name));
      return stats === undefined || stats.isDirectory()
        ? []
        : [{ ...drop, agent, name, path: join(path, name), stats }];
    });
  });
}

/** Tells whether a name is one that programs give to files which they are not done with: a hidden one, a backup, a download. */
function isUnfinished(name: string): boolean {
  return name.startsWith(".") || /(?:~|\.(?:tmp|temp|part|partial|swp|swx|crdownload|lock))$/i.test(name);
}

/** Says what distinguishes a file from what it was, and from another one at its place. */
export function stateOf({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
}

/** Says how long each file has been as it is, because nobody tells when a file is written to its end. */
export class SettledFiles {
  readonly #monotonicMs: () => number;
  #seen = new Map<string, { state: string; sinceMs: number }>();

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /**
   * Returns those of the files that have not changed for a while, and forgets files that are gone. An empty file, and one that a
   * process has open, is waited for longer, but not for ever: a reader has it open, too.
   */
  among(files: readonly DroppedFile[], openAmong: (paths: string[]) => string[]): DroppedFile[] {
    const now = this.#monotonicMs();
    const before = this.#seen;
    this.#seen = new Map(
      files.map(({ path, stats }) => {
        const state = stateOf(stats);
        const known = before.get(path);
        return [path, known?.state === state ? known : { state, sinceMs: now }];
      }),
    );
    const ageOf = ({ path }: DroppedFile): number => now - (this.#seen.get(path)?.sinceMs ?? now);
    const quiet = files.filter((file) => ageOf(file) >= DROP_SETTLE_MS);
    if (quiet.length === 0) return [];
    const open = new Set(openAmong(quiet.map(({ path }) => path)));
    const isFinished = ({ path, stats }: DroppedFile): boolean =>
      !open.has(path) && (stats.size > 0n || !stats.isFile());
    return quiet.filter((file) => ageOf(file) >= DROP_OPEN_MS || isFinished(file));
  }

  /** Waits as long again before the file is returned, because it could not be taken now. */
  restart(path: string, forMs: number): void {
    const known = this.#seen.get(path);
    if (known !== undefined) known.sinceMs = this.#monotonicMs() + forMs;
  }
}

/** Lists the names in a folder, a bounded number of them; none of a folder that is not there, or cannot be read. */
function entriesOf(folder: string): string[] {
  const names: string[] = [];
  try {
    const open = opendirSync(folder);
    try {
      for (let entry = open.readSync(); entry !== null && names.length < DROP_ENTRIES_MAX; entry = open.readSync())
        names.push(entry.name);
    } finally {
      open.closeSync();
    }
  } catch (error) {
    if (!isErrno(error, "ENOENT", "ENOTDIR", "EACCES", "ELOOP", "EIO")) throw error;
  }
  return names;
}

function statsOf(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    if (isErrno(error, "ENOTDIR", "EACCES", "ELOOP", "ENAMETOOLONG")) return undefined;
    throw error;
  }
}
