import { constants, lstatSync } from "node:fs";
import { copyFile, link, mkdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { freeName } from "./files.ts";

/** Puts a copy in the place of a vendor's file; what is left of the original is renamed and stays beside it. */
export async function putBack(copy: string, file: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const aside = join(dirname(file), `.${basename(file)}.perdure`);
  // In a vendor's folder anything may have the name: a fifo would wait for its reader, a link lead elsewhere.
  await rm(aside, { force: true });
  await copyFile(copy, aside, constants.COPYFILE_EXCL);
  await setVendorFileAside(file);
  try {
    // A link fails where the vendor has just made a file, and does not overwrite it.
    await link(aside, file);
  } finally {
    await rm(aside);
  }
}

/** Renames a file, if it is there, so that its vendor no longer takes it for a conversation's. */
export async function setVendorFileAside(file: string): Promise<void> {
  if (lstatSync(file, { throwIfNoEntry: false })) await rename(file, freeName(`${file}.lost`));
}
