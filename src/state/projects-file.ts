import { writeFileAtomic, readIfThere } from "./files.ts";

/** Folder identity → slug. Published by the daemon so that `whoami` needs none. */
export type ProjectsIndex = Readonly<Record<string, string>>;

export function readProjectsIndex(file: string): ProjectsIndex {
  const text = readIfThere(file);
  if (text === null) return {};
  try {
    return JSON.parse(text) as ProjectsIndex;
  } catch {
    // Only a cache: the daemon writes it anew at its next start, and resolves names without it meanwhile.
    return {};
  }
}

export function writeProjectsIndex(file: string, index: ProjectsIndex): void {
  writeFileAtomic(file, `${JSON.stringify(index, null, 1)}\n`);
}
