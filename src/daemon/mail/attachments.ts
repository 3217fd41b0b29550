import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, open, readdir, rm, stat, type FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { ATTACHMENT_BYTES_MAX, ATTACHMENT_SWEEP_MS, CUSTODY_CHUNK_BYTES } from "../../limits/index.ts";
import { asPerdureError, isPerdureError, PerdureError } from "../../protocol/errors.ts";
import { fileNameOf } from "../../protocol/foreign-id.ts";
import type { Attachment } from "../../protocol/records/mail.ts";
import { isErrno } from "../../state/files.ts";
import { openRegular } from "../../state/open-regular.ts";
import { allAttachments } from "../../store/messages.ts";
import type { MailServices } from "./services.ts";
import { shellWords } from "../../util/shell-quote.ts";

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
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const copy = join(folder, `${at + 1}-${fileNameOf(basename(file))}`);
    attached.push({ name: basename(file), file: copy, ...(await copyAttachment(file, copy)) });
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

/** Copies a file through one handle, so that neither its kind nor its size can change between the check and the copy. */
async function copyAttachment(file: string, copy: string): Promise<{ bytes: number; sha256: string }> {
  const source = await openAttachable(file);
  try {
    const target = await open(copy, "wx", 0o600);
    try {
      const hash = createHash("sha256");
      const buffer = Buffer.allocUnsafe(CUSTODY_CHUNK_BYTES);
      for (let bytes = 0; ;) {
        const { bytesRead } = await source.read(buffer, 0, buffer.length, bytes);
        if (bytesRead === 0) {
          await target.datasync();
          return { bytes, sha256: hash.digest("hex") };
        }
        bytes += bytesRead;
        if (bytes > ATTACHMENT_BYTES_MAX) throw tooLarge(file, bytes);
        const part = buffer.subarray(0, bytesRead);
        hash.update(part);
        await target.writeFile(part);
      }
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function openAttachable(file: string): Promise<FileHandle> {
  const handle = await openRegular(file).catch((error: unknown) => {
    if (!isPerdureError(error) && !isErrno(error, "ENOENT", "ENOTDIR", "EACCES", "ELOOP")) throw error;
    throw new PerdureError("not-found", `There is no file ${file} to attach.`, {
      hint: shellWords(["ls", "-l", file]),
      cause: error,
    });
  });
  const { size } = await handle.stat();
  if (size <= ATTACHMENT_BYTES_MAX) return handle;
  await handle.close();
  throw tooLarge(file, size);
}

function tooLarge(file: string, bytes: number): PerdureError {
  return new PerdureError("usage", `${file} has ${bytes} bytes; the limit is ${ATTACHMENT_BYTES_MAX}.`, {
    hint: "send its path instead",
  });
}

/** Deletes copies that belong to no message. Recent ones stay, because their message may be about to be admitted. */
export async function sweepAttachments(services: MailServices): Promise<void> {
  // Where nothing was ever attached, the module that reads folders is not even loaded.
  if (!existsSync(services.paths.attachments)) return;
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
