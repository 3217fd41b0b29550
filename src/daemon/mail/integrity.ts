import type { Attachment } from "../../protocol/records/mail.ts";
import { sha256 } from "../../util/sha256.ts";
import { checkStore } from "../../store/check.ts";
import { DamagedRow } from "../../store/failure.ts";
import type { Message } from "../../store/messages.ts";
import type { BaseServices } from "../base-services.ts";

interface DigestedFields {
  id: string;
  from: number | null;
  project: number;
  to: number | null;
  body: string;
  replyTo: string | null;
  expectsReply: boolean;
  attachments: readonly Attachment[];
}

/** All the sender chose, and nothing that could be another at a retry: its run, the time, what the name is by now. */
export function digestOf({ id, from, project, to, body, replyTo, expectsReply, attachments }: DigestedFields): string {
  const files = attachments.map(({ name, sha256: hash }) => [name, hash]);
  return sha256(JSON.stringify([id, from, project, to, body, replyTo, expectsReply, files]));
}

/** A message is given to nobody unless it is, to the letter, what was taken in. */
export function assertIntact(row: Message): void {
  const { id, fromWorker: from, projectId: project, toWorker: to, body, replyTo, expectsReply, attachments } = row;
  if (digestOf({ id, from, project, to, body, replyTo, expectsReply, attachments }) === row.digest) return;
  throw new DamagedRow(`message ${row.seq} is not what was taken in`);
}

/**
 * A box is read by an index, and counted apart from it: an index that lost an entry would lose mail without a word. Where the
 * two do not agree, the whole store is checked before anything is said.
 */
export async function assertNoneMissing(
  services: BaseServices,
  projectId: number,
  to: number | null,
  found: number,
): Promise<void> {
  if (found === services.db.mailboxCounters.count(projectId, to).messages) return;
  const { ok, problems } = await checkStore(services.paths.database, "integrity_check");
  if (!ok) throw new DamagedRow(problems.join("; "));
  services.log(`a box of project ${projectId} (worker ${to ?? "operator"}) is counted wrongly`);
}
