import { createHash, randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { chmod, copyFile, mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { ATTACHMENT_BYTES_MAX, ATTACHMENT_SWEEP_MS, CUSTODY_CHUNK_BYTES } from "../../limits/index.ts";
import { asPerdureError, PerdureError } from "../../protocol/errors.ts";
import { fileNameOf } from "../../protocol/foreign-id.ts";
import type { Attachment } from "../../protocol/records/mail.ts";
import { isErrno } from "../../state/files.ts";
import { allAttachments } from "../../store/messages.ts";
import type { MailServices } from "./services.ts";

/**
 * Admits a message with copies of its files, which are on disk before the message is: a reader gets the files as they were
 * sent. Every try copies to a folder of its own, which stays only if the message was admitted with it, so that a repeated or
 * refused message changes no file of an earlier one and leaves nothing behind.
 */
export async function withAttachments<T extends { again: boolean }>(
  services: MailServices,
  id: string,
  files: readonly string[],
  admitWith: (attachments: Attachment[]) => Promise<T>,
): Promise<T> {
  if (files.length === 0) return admitWith([]);
  const folder = join(services.paths.attachments, `${fileNameOf(id)}~${randomBytes(6).toString("hex")}`);
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const admitted = await admitWith(await copyAll(files, folder));
    if (admitted.again) await remove();
    return admitted;
  } catch (error) {
    // After a failed sync the message may be on disk after all, and then it needs the files.
    if (asPerdureError(error).code !== "unavailable") await remove();
    throw error;
  }
}

async function copyAll(files: readonly string[], folder: string): Promise<Attachment[]> {
  const attached: Attachment[] = [];
  for (const [at, file] of files.entries()) {
    await assertAttachable(file);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const copy = join(folder, `${at + 1}-${fileNameOf(basename(file))}`);
    await copyFile(file, copy, constants.COPYFILE_FICLONE);
    attached.push({ name: basename(file), file: copy, ...(await syncedHash(copy)) });
  }
  // A file survives a power cut only if the folders that lead to it are on disk, too.
  for (const each of [folder, dirname(folder), dirname(dirname(folder))]) await syncFolder(each);
  return attached;
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
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
  throw new PerdureError("usage", `${file} has ${info.size} bytes; the limit is ${ATTACHMENT_BYTES_MAX}.`, {
    hint: "send its path instead",
  });
}

async function syncedHash(file: string): Promise<{ bytes: number; sha256: string }> {
  // The copy of a read-only file is read-only, so the mode is set first.
  await chmod(file, 0o600);
  const handle = await open(file, "r+");
  try {
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

/** Deletes copies that belong to no message. Recent ones stay, because their message may be about to be admitted. */
export async function sweepAttachments(services: MailServices): Promise<void> {
  const folders = new Set(allAttachments(services.db).map(({ file }) => dirname(file)));
  for (const name of await readdir(services.paths.attachments).catch(noneIfMissing)) {
    const folder = join(services.paths.attachments, name);
    const info = await stat(folder);
    if (!folders.has(folder) && services.now() - info.mtimeMs > ATTACHMENT_SWEEP_MS) {
      await rm(folder, { recursive: true, force: true });
    }
  }
}

function noneIfMissing(error: unknown): string[] {
  if (isErrno(error, "ENOENT")) return [];
  throw error;
}
