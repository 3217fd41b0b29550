import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { readIfThere, writeFileAtomic } from "../state/files.ts";
import type { Presence, View } from "./persona.ts";

/** One `<pid>.json` per live process in a folder. After a SIGKILL it stays, so it tells the start time too. */
export function registryFile(folder: string, entry: (view: View) => object): Presence {
  const file = join(folder, `${process.pid}.json`);
  return {
    show(view) {
      mkdirSync(folder, { recursive: true });
      writeFileAtomic(file, JSON.stringify(entry(view)));
    },
    leave: () => rmSync(file, { force: true }),
  };
}

/** Field 22 of `/proc/PID/stat`, as text; null where there is no such file. */
export function ownStart(): string | null {
  const stat = readIfThere("/proc/self/stat");
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
}
