import { copyFileSync, constants, existsSync, linkSync, lstatSync, rmSync } from "node:fs";
import { join } from "node:path";
import { archiveFolder, archiveName, relativeTo, type AnchorSettings } from "../../project/context-file.ts";
import { makeFolderInside, requireInside } from "../../project/context-folder.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { isNested } from "../../launch/nesting.ts";
import { processTable } from "../../runtime/process/index.ts";
import { isErrno } from "../../state/files.ts";
import type { Invocation } from "../shared/command.ts";
import { printable } from "../shared/output.ts";
import { locateAnchor } from "./anchor-paths.ts";
import { requireNotDisplaced } from "./displaced.ts";

/** Moves the anchor of this run to the archive, which marks a clean end. */
export async function contextArchive({ words, values, out }: Invocation): Promise<void> {
  const { file, root, settings, agentId } = locateAnchor(values);
  requireNotNested();
  requireNotDisplaced(agentId);
  requireInside(root, file);
  if (!existsSync(file)) {
    throw new PerdureError(
      "not-found",
      `There is no context to archive: ${relativeTo(process.cwd(), file)} does not exist.`,
      {
        hint: "perdure context log TEXT begins one",
      },
    );
  }
  if (!lstatSync(file).isFile()) {
    throw new PerdureError("unsafe", `${file} is not a regular file.`, { hint: "remove it" });
  }
  const to = moveToArchive(file, root, settings, archiveName(new Date(), agentId, words.join(" ")));
  out.result({ from: file, to }, () => printable(relativeTo(process.cwd(), to)));
}

/** Throws in a nested agent: it inherited its supervisor's id, and the file belongs to the supervisor. */
function requireNotNested(): void {
  const run = process.env.PERDURE_RUN;
  if (!run || !isNested(processTable(), process.ppid, run)) return;
  throw new PerdureError("refused", `This is a nested agent; the context belongs to ${process.env.PERDURE_NAME}.`, {
    hint: "let the worker archive it",
  });
}

/** Moves a file to the archive without overwriting: a taken name gets `-2`, `-3` and so on. Returns the new path. */
export function moveToArchive(file: string, root: string, { dir, ext }: AnchorSettings, name: string): string {
  const folder = archiveFolder(root, dir);
  makeFolderInside(root, folder);
  for (let number = 1; ; number++) {
    const to = join(folder, `${name}${number === 1 ? "" : `-${number}`}.${ext}`);
    if (!moveTo(file, to)) continue;
    return to;
  }
}

function moveTo(file: string, to: string): boolean {
  try {
    linkOrCopy(file, to);
  } catch (error) {
    if (isErrno(error, "EEXIST")) return false;
    throw error;
  }
  rmSync(file);
  return true;
}

/** Links the file to its new name, because a rename would overwrite; copies it exclusively where links are not supported. */
function linkOrCopy(file: string, to: string): void {
  try {
    linkSync(file, to);
  } catch (error) {
    if (!isErrno(error, "EPERM", "ENOTSUP", "EXDEV")) throw error;
    copyFileSync(file, to, constants.COPYFILE_EXCL);
  }
}
