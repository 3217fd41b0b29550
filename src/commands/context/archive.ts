import { copyFileSync, constants, existsSync, linkSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { archiveFolder, archiveName, relativeTo, type AnchorSettings } from "../../project/context-file.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { isNested } from "../../launch/nesting.ts";
import { processTable } from "../../runtime/process/index.ts";
import { isErrno } from "../../state/files.ts";
import type { Invocation } from "../shared/command.ts";
import { printable } from "../shared/output.ts";
import { anchorPlace, assertInside } from "./anchor-paths.ts";

/** The clean end of a run: its anchor moves to the dated sessions. */
export async function contextArchive({ words, values, out }: Invocation): Promise<void> {
  const { file, root, settings, agentId } = anchorPlace(values);
  assertNotNested();
  assertInside(root, file);
  if (!existsSync(file)) {
    throw new PerdureError(
      "not-found",
      `There is no context to archive: ${relativeTo(process.cwd(), file)} does not exist.`,
      {
        hint: "perdure context log TEXT begins one",
      },
    );
  }
  const to = moveToArchive(file, root, settings, archiveName(new Date(), agentId, words.join(" ")));
  out.result({ from: file, to }, () => printable(relativeTo(process.cwd(), to)));
}

/** A nested agent has inherited its supervisor's id: the file is the supervisor's to close. */
function assertNotNested(): void {
  const run = process.env.PERDURE_RUN;
  if (!run || !isNested(processTable(), process.ppid, run)) return;
  throw new PerdureError("refused", `This is a nested agent; the context belongs to ${process.env.PERDURE_NAME}.`, {
    hint: "let the worker archive it",
  });
}

/** Never over an existing file: a taken name gets `-2`, `-3` and so on. */
export function moveToArchive(file: string, root: string, { dir, ext }: AnchorSettings, name: string): string {
  const folder = archiveFolder(root, dir);
  assertInside(root, folder);
  mkdirSync(folder, { recursive: true });
  assertInside(root, folder);
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

/** A rename would overwrite; a link does not. Where links cannot be made, an exclusive copy. */
function linkOrCopy(file: string, to: string): void {
  try {
    linkSync(file, to);
  } catch (error) {
    if (!isErrno(error, "EPERM", "ENOTSUP", "EXDEV")) throw error;
    copyFileSync(file, to, constants.COPYFILE_EXCL);
  }
}
