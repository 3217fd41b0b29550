import { configOf, readConfigText } from "../../project/config/read.ts";
import { fleetRoot, type FoundProject } from "../../project/find.ts";
import { withRenamedEntry } from "../../project/fleet/add-entry.ts";
import { fleetOf } from "../../project/fleet/read.ts";
import { replaceFile } from "../../project/fleet/replace-file.ts";
import { isPerdureError } from "../../protocol/errors.ts";
import { callDaemon } from "../shared/call.ts";
import { projectRefHere } from "../shared/here.ts";
import { trustedContent } from "../shared/launch/trusted-content.ts";

/**
 * Gives an entry of the fleet file the worker's new name, and trusts the file anew; false where a person has to do that: the file is not
 * trusted as it is, the parser would read more than another name, or the entry's worktree has its name.
 */
export async function renameEntry(found: FoundProject, slug: string, from: string, to: string): Promise<boolean> {
  const root = fleetRoot(found);
  const here = projectRefHere(found);
  try {
    const read = readConfigText(root);
    const before = read && fleetOf(found, read, slug);
    const isOwnFolder = before?.workers.some(({ entry, worktree }) => entry === from && worktree !== null) ?? true;
    const text = read && !isOwnFolder ? withRenamedEntry(read.source, from, to) : null;
    if (read === null || before === null || text === null) return false;
    const { trusted } = await callDaemon("checkTrust", { here, ...trustedContent(before) });
    const after = fleetOf(found, configOf(root, text), slug);
    if (!trusted || replaceFile(before.file, read.source.text, text) !== null) return false;
    await callDaemon("trust", { here, ...trustedContent(after) });
    return true;
  } catch (error) {
    if (isPerdureError(error)) return false;
    throw error;
  }
}
