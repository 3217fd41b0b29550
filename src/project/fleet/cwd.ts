import { PerdureError } from "../../protocol/errors.ts";
import { isFolder } from "../../state/files.ts";
import { pathInside } from "../path-inside.ts";
import type { Fleet, FleetWorker } from "./read.ts";
import { shellWords } from "../../util/shell-quote.ts";

/** Checks a worker's folder right before a start: git may have checked out a link in its place. */
export function checkCwd({ root, file }: Fleet, { name, cwd, worktree }: FleetWorker): void {
  const folder = worktree?.path ?? root;
  if (pathInside(folder, cwd) === null) {
    throw new PerdureError("refused", `The folder of ${name} is outside ${folder}: ${cwd}.`, {
      hint: shellWords(["ls", "-ld", cwd]),
    });
  }
  if (isFolder(cwd)) return;
  throw new PerdureError("refused", `The folder of ${name} does not exist: ${cwd}.`, {
    hint: `create it, or edit ${file}`,
  });
}
