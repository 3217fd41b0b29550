import { PerdureError } from "../../protocol/errors.ts";
import type { Fleet, FleetWorker } from "./read.ts";
import { pathInside } from "../path-inside.ts";
import { isFolder } from "../../state/files.ts";

/** Right before a start, when the worktree is there: what git checked out may have a link in the folder's place. */
export function checkCwd({ root, file }: Fleet, { name, cwd, worktree }: FleetWorker): void {
  const folder = worktree?.path ?? root;
  if (pathInside(folder, cwd) === null) {
    throw new PerdureError("refused", `The folder of ${name} leads out of ${folder}: ${cwd}.`, {
      hint: `ls -ld ${cwd}`,
    });
  }
  if (isFolder(cwd)) return;
  throw new PerdureError("refused", `The folder of ${name} is not there: ${cwd}.`, {
    hint: `make it, or edit ${file}`,
  });
}
