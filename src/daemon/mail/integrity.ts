import type { Attachment } from "../../protocol/records/mail.ts";
import { sha256 } from "../../util/sha256.ts";
import { checkStore } from "../../store/check.ts";
import { DamagedRow } from "../../store/failure.ts";
import { messagesOfProject, setMessageProject, type Message } from "../../store/messages.ts";
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

/** Hashes all that the sender chose, and nothing that may differ at a retry, such as the run, the time or a new name. */
export function digestOfMessage({
  id,
  from,
  project,
  to,
  body,
  replyTo,
  expectsReply,
  attachments,
}: DigestedFields): string {
  const files = attachments.map(({ name, sha256: hash }) => [name, hash]);
  return sha256(JSON.stringify([id, from, project, to, body, replyTo, expectsReply, files]));
}

/** Throws unless the message is exactly what was admitted. */
export function assertIntact(row: Message): void {
  const { id, fromWorker: from, projectId: project, toWorker: to, body, replyTo, expectsReply, attachments } = row;
  if (digestOfMessage({ id, from, project, to, body, replyTo, expectsReply, attachments }) === row.digest) return;
  throw new DamagedRow(`message ${row.seq} is not what was admitted`);
}

/** Gives the messages of a project to another one, inside a change; each has to be what was admitted, and gets a new digest. */
export function moveMessages({ db }: Pick<BaseServices, "db">, from: number, into: number): void {
  for (const row of messagesOfProject(db, from)) {
    assertIntact(row);
    const { seq, fromWorker, toWorker: to } = row;
    setMessageProject(db, seq, into, digestOfMessage({ ...row, from: fromWorker, to, project: into }));
  }
}

/**
 * Checks that no message of a mailbox is missing. A mailbox is read through an index and counted separately: an index that
 * lost an entry would silently lose mail. Where the two disagree, the whole store is checked.
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
  services.log(`the counter of a mailbox is wrong (project ${projectId}, worker ${to ?? "operator"})`);
}
