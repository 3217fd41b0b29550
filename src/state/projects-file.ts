import { writeFileAtomic, readIfThere } from "./files.ts";

/** Maps folder identities to slugs. The daemon publishes it so that `whoami` needs no daemon. */
export type ProjectsIndex = Readonly<Record<string, string>>;

export function readProjectsIndex(file: string): ProjectsIndex {
  const text = readIfThere(file);
  if (text === null) return {};
  try {
    return JSON.parse(text) as ProjectsIndex;
  } catch {
    // The file is only a cache: the daemon rewrites it at its next start and resolves names without it.
    return {};
  }
}

export function writeProjectsIndex(file: string, index: ProjectsIndex): void {
  writeFileAtomic(file, `${JSON.stringify(index, null, 1)}\n`);
}
