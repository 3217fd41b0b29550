import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, mkdir, open, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { ATTACHMENT_BYTES_MAX, CUSTODY_CHUNK_BYTES } from "../../limits.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { fileNameOf } from "../../protocol/foreign-id.ts";
import type { Attachment } from "../../protocol/mail.ts";
import { isErrno } from "../../state/files.ts";
import type { House } from "../house.ts";

/** Copies of the files, on disk before the message is: a reader gets what was sent, not what became of it. */
export async function attach(house: House, id: string, files: readonly string[]): Promise<Attachment[]> {
  const folder = join(house.paths.attachments, fileNameOf(id));
  const attached: Attachment[] = [];
  for (const [at, file] of files.entries()) {
    await assertAttachable(file);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const copy = join(folder, `${at + 1}-${fileNameOf(basename(file))}`);
    // The same message once more has its copies already.
    await copyFile(file, copy, constants.COPYFILE_FICLONE);
    attached.push({ name: basename(file), file: copy, ...(await syncedHash(copy)) });
  }
  return attached;
}

export async function detach(house: House, id: string): Promise<void> {
  await rm(join(house.paths.attachments, fileNameOf(id)), { recursive: true, force: true });
}

async function assertAttachable(file: string): Promise<void> {
  const info = await stat(file).catch((error: unknown) => {
    if (isErrno(error, "ENOENT", "ENOTDIR", "EACCES")) return null;
    throw error;
  });
  if (!info?.isFile()) {
    throw new PerdureError("not-found", `There is no file ${file} to attach.`, { hint: `ls -l ${file}` });
  }
  if (info.size <= ATTACHMENT_BYTES_MAX) return;
  throw new PerdureError("usage", `${file} has ${info.size} bytes; at most ${ATTACHMENT_BYTES_MAX} are taken.`, {
    hint: "send its path instead",
  });
}

async function syncedHash(file: string): Promise<{ bytes: number; sha256: string }> {
  const handle = await open(file, "r+");
  try {
    await handle.chmod(0o600);
    const hash = createHash("sha256");
    let bytes = 0;
    for await (const chunk of handle.createReadStream({ autoClose: false, highWaterMark: CUSTODY_CHUNK_BYTES })) {
      hash.update(chunk as Buffer);
      bytes += (chunk as Buffer).length;
    }
    await handle.datasync();
    return { bytes, sha256: hash.digest("hex") };
  } finally {
    await handle.close();
  }
}
