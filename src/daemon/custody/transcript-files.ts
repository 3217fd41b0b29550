import { basename, dirname, join, sep } from "node:path";
import { CUSTODY_LATER_FILES_MAX } from "../../limits/index.ts";
import type { GoodTranscript, Transcript } from "../../protocol/records/conversation.ts";
import { conversationById, setTranscript, type Conversation } from "../../store/conversations.ts";
import { custodyOf, laterCopiesOf, setCustody, setLaterCopy } from "../../store/custody.ts";
import { workerById } from "../../store/workers.ts";
import { adapterOf } from "../../vendors/index.ts";
import type { BaseServices } from "../base-services.ts";
import { locationOf, probeConversation } from "../conversations/probe/probe.ts";
import { recordEvent } from "../events.ts";
import { FileCopies, type FileUpdate, type KeptFile, type TakenBackJudge } from "./file-copies.ts";
import { sizeOf } from "./files.ts";
import { putBack, setVendorFileAside } from "./put-back.ts";

export interface TranscriptUpdateOptions {
  /** Reads the copy, and makes another one if it is damaged. */
  verify: boolean;
  /** No run writes any more. */
  final: boolean;
  /** The file to which the agent's process is seen to write, which may be a later one of the conversation. */
  written: string | undefined;
  /** Searches for later files; a copy that is to be complete always does. */
  search: boolean;
}

/** Keeps the copies of a conversation's files: the first one, and, with some vendors, later ones in which it goes on. */
export class TranscriptFiles {
  readonly #services: Pick<BaseServices, "db" | "environments" | "writer" | "paths" | "processes" | "now" | "log">;
  readonly #copies = new FileCopies();

  constructor(services: Pick<BaseServices, "db" | "environments" | "writer" | "paths" | "processes" | "now" | "log">) {
    this.#services = services;
  }

  /** Brings the copies up to date, and tells whether they are complete now. */
  async update(conversation: Conversation, options: Partial<TranscriptUpdateOptions>): Promise<boolean> {
    const { db } = this.#services;
    const storage = adapterOf(conversation.vendor)?.storage;
    if (conversation.transcript === null || storage === undefined || storage.noCopyReason !== undefined) return false;
    const files = await this.#filesOf(conversation, conversation.transcript, options);
    const bytes = files.reduce((sum, { source }) => sum + (sizeOf(source) ?? 0), 0);
    const isShorter = bytes < (conversation.transcriptBytes ?? 0);
    // Transcripts only grow: what is missing was not copied, and must not be forgotten.
    if (isShorter && bytes >= (custodyOf(db, conversation.id)?.wholeBytes ?? 0)) return false;
    if (files.length > CUSTODY_LATER_FILES_MAX) {
      this.#services.log(`custody: ${conversation.vendorId} has ${files.length} files, too many to be copied`);
      return false;
    }
    const judge = this.#judgeOf(conversation);
    const { verify = false, final = false } = options;
    const updates: [KeptFile, FileUpdate][] = [];
    for (const file of files) updates.push([file, await this.#copies.update(file, { verify, final, judge })]);
    await this.record(conversation, updates);
    await this.#reportChanges(conversation, updates);
    return updates.every(([, { state }]) => state !== "uncopied" && state !== "changed");
  }

  /** Lists the files of a transcript, the first one first. Later ones are searched for when a copy has to be complete. */
  async #filesOf(
    conversation: Conversation,
    first: string,
    { written, search = false, verify = false, final = false }: Partial<TranscriptUpdateOptions>,
  ): Promise<KeptFile[]> {
    const { db } = this.#services;
    const { id, vendor } = conversation;
    const record = custodyOf(db, id);
    const known = record === null ? [] : laterCopiesOf(db, id);
    const storage = adapterOf(vendor)?.storage;
    const found = search || verify || final ? ((await storage?.laterFiles?.(locationOf(conversation))) ?? []) : [];
    const later = new Set([...known.map(({ file }) => file), ...found, ...(written === undefined ? [] : [written])]);
    later.delete(first);
    return [
      { source: first, target: this.targetOf(id), record },
      ...[...later].toSorted().map((file) => ({
        source: file,
        target: this.#laterFile(id, file),
        record: known.find((each) => each.file === file) ?? null,
      })),
    ];
  }

  /** Returns the vendor's own ways to take lines back; a program that does nothing but append has none. */
  #judgeOf(conversation: Conversation): TakenBackJudge {
    const takesBack = adapterOf(conversation.vendor)?.storage.takesBack;
    return {
      read: (line) => takesBack?.read(line) ?? null,
      // A line that cannot be read may have been anything.
      isTakenBack: async ({ count, lines, left }) =>
        takesBack?.judge(lines, left) === true &&
        lines.length === count &&
        (await probeConversation(this.#services, conversation)).state === "good",
    };
  }

  /**
   * Returns the transcript as damaged if one of its files no longer begins with what was copied. One that was not modified since is not
   * read again, unless `thorough`.
   */
  async check(conversation: Conversation, found: GoodTranscript, thorough: boolean): Promise<Transcript> {
    const { takesBack } = adapterOf(conversation.vendor)?.storage ?? {};
    const judge = this.#judgeOf(conversation);
    let shrinks = false;
    for (const file of await this.#filesOf(conversation, found.file, {})) {
      const isShorter = file.record !== null && (sizeOf(file.source) ?? 0) < file.record.bytes;
      if (isShorter && !takesBack) continue;
      const comparison = await this.#copies.compare(file, { judge, thorough });
      shrinks ||= comparison.state === "taken-back";
      // A file that is shorter than its copy, or gone, is refused for that.
      if (comparison.state !== "changed" || isShorter) continue;
      const { why } = comparison;
      return { state: "damaged", file: file.source, bytes: found.bytes, why, readable: true };
    }
    return shrinks ? { ...found, shrinks } : found;
  }

  /** Reads the copies of all files, if there are any, and tells whether they are intact. */
  async isIntact(conversationId: number): Promise<boolean> {
    const record = custodyOf(this.#services.db, conversationId);
    if (record === null || (await this.#copies.intact(this.targetOf(conversationId), record)) === null) return false;
    for (const later of laterCopiesOf(this.#services.db, conversationId))
      if ((await this.#copies.intact(this.#laterFile(conversationId, later.file), later)) === null) return false;
    return true;
  }

  /** Records the copies of those files that got a new one; null stands for the file that has a printed conversation. */
  async record(conversation: Conversation, updates: readonly [KeptFile | null, FileUpdate][]): Promise<void> {
    const { db, writer, now, processes } = this.#services;
    if (updates.every(([, { copy }]) => copy === null)) return;
    const [[, first] = [null, null], ...later] = updates;
    await writer.write(() => {
      // The conversation may have been deleted meanwhile; the next sweep then deletes its copy.
      const current = conversationById(db, conversation.id);
      const copy = first?.copy ?? custodyOf(db, conversation.id);
      if (current === null || copy === null) return;
      const { bytes, sha256, sourceBytes, sourceChanged } = copy;
      setCustody(db, { conversationId: current.id, keptMs: now(), bytes, sha256, sourceBytes, sourceChanged });
      for (const [file, update] of later)
        if (file && update.copy) setLaterCopy(db, current.id, { file: file.source, ...update.copy });
      // From now on a shorter transcript is a loss.
      const whole = custodyOf(db, current.id)?.wholeBytes ?? 0;
      const isTakenBack = updates.some(([, { state }]) => state === "taken-back");
      if (current.transcript === null || (whole <= (current.transcriptBytes ?? 0) && !isTakenBack)) return;
      setTranscript(db, current.id, {
        file: current.transcript,
        bytes: whole,
        version: null,
        boot: processes.bootId(),
      });
    });
  }

  /** Tells what is found changed, once: the copy stays what it was, and the next start is refused. */
  async #reportChanges(conversation: Conversation, updates: readonly [KeptFile, FileUpdate][]): Promise<void> {
    for (const [{ source }, update] of updates) {
      if (update.state === "uncopied" && update.why !== null)
        this.#services.log(`custody: ${source} is not copied: ${update.why}`);
      if (update.state !== "changed" || !update.isNew) continue;
      const { vendorId: session, workerId } = conversation;
      const worker = workerById(this.#services.db, workerId);
      const subject = { workerId, ...(worker && { projectId: worker.projectId }) };
      const data = { session, file: source, why: update.why };
      await this.#services.writer.write(() => recordEvent(this.#services, "session.changed", subject, data));
    }
  }

  /** Puts back what the vendor has lost, or all of it. Then later files that were not copied would lead away from it. */
  async putBack(conversation: Conversation, transcript: string, all: boolean): Promise<void> {
    for (const { source, target, record } of await this.#filesOf(conversation, transcript, { search: all })) {
      if (record === null) await setVendorFileAside(source);
      else if (all || (sizeOf(source) ?? 0) < record.bytes) await putBack(target, source);
    }
  }

  /** Returns a text that changes with the size of any file of the transcript. */
  async sizesOf(conversation: Conversation): Promise<string> {
    if (conversation.transcript === null) return "";
    const files = await this.#filesOf(conversation, conversation.transcript, { search: true });
    return files.map(({ source }) => `${source} ${sizeOf(source)}`).join("\n");
  }

  /** Returns the copy of the first file, or of what a vendor's program has printed. */
  targetOf(conversationId: number): string {
    return join(this.#services.paths.custody, String(conversationId), "transcript");
  }

  #laterFile(conversationId: number, file: string): string {
    return join(dirname(this.targetOf(conversationId)), "later", basename(file));
  }

  forget(conversationId: number): void {
    const folder = `${dirname(this.targetOf(conversationId))}${sep}`;
    this.#copies.forget((target) => target.startsWith(folder));
  }
}
