import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { readIfThere, writeFileAtomic } from "../state/files.ts";
import type { PresenceFile } from "./persona.ts";

/** One `<pid>.json` per live process in a folder. After a SIGKILL the file stays, so an entry has the start time too. */
export function registryFile<S>(folder: string, entry: (snapshot: S) => object): PresenceFile<S> {
  const file = join(folder, `${process.pid}.json`);
  return {
    write(snapshot) {
      mkdirSync(folder, { recursive: true });
      writeFileAtomic(file, JSON.stringify(entry(snapshot)));
    },
    remove: () => rmSync(file, { force: true }),
  };
}

/** This process's start time, field 22 of `/proc/self/stat`, as text; null where there is no such file. */
export function ownStart(): string | null {
  const stat = readIfThere("/proc/self/stat");
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
}
