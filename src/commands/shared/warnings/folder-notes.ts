import { fleetRoot, type FoundProject } from "../../../project/find.ts";
import { dropFolderAt, recordsFolderAt } from "../../../project/configured-folder.ts";
import { printable, type Output } from "../output.ts";

/** Tells of folders that perdure.toml names and the daemon does not use, and why: nobody would notice files that are not there. */
export function noteUnusedFolders(found: FoundProject, out: Output): void {
  const root = fleetRoot(found);
  const [records, drops] = [recordsFolderAt(root), dropFolderAt(root)];
  if (records !== null && "problem" in records)
    out.note(printable(`[records] dir: no records are written: ${records.problem}`));
  if (drops !== null && "problem" in drops)
    out.note(printable(`[mail] drop_dir: no files are taken: ${drops.problem}`));
}
