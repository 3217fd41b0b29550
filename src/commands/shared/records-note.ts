import { fleetRoot, type FoundProject } from "../../project/find.ts";
import { recordsFolderAt } from "../../project/configured-folder.ts";
import { printable, type Output } from "./output.ts";

/** Tells that the records which perdure.toml asks for are not written, and why: nobody would notice files that are not there. */
export function noteRecords(found: FoundProject, out: Output): void {
  const records = recordsFolderAt(fleetRoot(found));
  if (records !== null && "problem" in records)
    out.note(printable(`[records] dir: no records are written: ${records.problem}`));
}
