import { rmSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { CUSTODY_BYTES_MAX, CUSTODY_KEPT_MS, CUSTODY_TRANSCRIPT_BYTES_MAX } from "../../limits/index.ts";
import type { Restored } from "../../protocol/records/restored.ts";
import type { GoodTranscript, Transcript } from "../../protocol/records/conversation.ts";
import { readIfReadable } from "../../state/bounded-read.ts";
import { statIfThere } from "../../state/files.ts";
import {
  custodyIds,
  custodyOf,
  custodyToDrop,
  dropCustody,
  laterCopiesOf,
  type CustodyCopy,
} from "../../store/custody.ts";
import {
  conversationById,
  setCopyBehind,
  setRestored,
  setTranscript,
  type Conversation,
} from "../../store/conversations.ts";
import { workerById } from "../../store/workers.ts";
import { KeyedMutex } from "../../util/semaphore.ts";
import { adapterOf } from "../../vendors/index.ts";
import { parseObject } from "../../util/fields.ts";
import { iso } from "../../util/iso.ts";
import { recordEvent } from "../events.ts";
import type { BaseServices } from "../base-services.ts";
import { askProgramOf } from "../conversations/probe/probe.ts";
import { copyWhole, digestOfCopy } from "./copy.ts";
import { freeName, namesIn, sizeOf } from "./files.ts";
import { writeOwnBranch } from "./split.ts";
import { TranscriptFiles, type TranscriptUpdateOptions } from "./transcript-files.ts";

type CustodyServices = Pick<BaseServices, "db" | "environments" | "writer" | "paths" | "processes" | "now" | "log">;

interface UpdateOptions extends Partial<TranscriptUpdateOptions> {
  /** Where the transcript lies. */
  file?: string;
  /** The digest of what the vendor's program has just printed of the conversation: a copy of that is up to date. */
  printed?: string;
}

/**
 * Copies of the workers' conversations, safe from the vendors' clean-ups: updated when a turn or a run ends and while an
 * agent works, restored before a resume if the vendor lost the original. Files are copied, not linked: a link shares damage.
 */
export class Custody {
  readonly #services: CustodyServices;
  readonly #files: TranscriptFiles;
  /** Lets one operation at a time run for each conversation. */
  readonly #copying = new KeyedMutex<number>();

  constructor(services: CustodyServices) {
    this.#services = services;
    this.#files = new TranscriptFiles(services);
  }

  /** Brings the copy up to date with the vendor's transcript. A failure is logged and has no other effect. */
  async updateCopy(conversationId: number, options: UpdateOptions = {}): Promise<void> {
    const { file, printed, final = false } = options;
    await this.#copying.run(conversationId, async () => {
      try {
        const found = conversationById(this.#services.db, conversationId);
        const conversation = found && { ...found, transcript: file ?? found.transcript };
        if (!conversation) return;
        const complete = await (adapterOf(conversation.vendor)?.storage.archive
          ? (await this.#hasCopyOf(conversation.id, printed)) || (await this.#exportArchive(conversation))
          : this.#files.update(conversation, options));
        if (complete && final) await this.#recordComplete(conversation);
      } catch (error) {
        this.#services.log(
          `custody: the copy of conversation ${conversationId} could not be updated: ${String(error)}`,
        );
      }
    });
  }

  /** Replaces the copy by the transcript as it is now, which the operator has declared to be the conversation. */
  async replaceCopy(conversationId: number): Promise<void> {
    await this.#services.writer.write(() => dropCustody(this.#services.db, conversationId));
    this.#files.forget(conversationId);
    await this.updateCopy(conversationId, { search: true });
  }

  /**
   * Puts the copy back where the vendor looks for it: what it has lost, or, with `all`, all of it. Returns null when there is no copy, or
   * it is not intact.
   */
  async restore(
    conversation: Conversation,
    { all = false, assertUnused }: { all?: boolean; assertUnused?: () => Promise<void> } = {},
  ): Promise<Restored | null> {
    const { transcript } = conversation;
    const before = await this.#files.sizesOf(conversation);
    return this.#copying.run(conversation.id, async () => {
      const record = custodyOf(this.#services.db, conversation.id);
      if (record === null || !(await this.#files.isIntact(conversation.id))) return null;
      await assertUnused?.();
      // Reading the whole copy took a while, in which somebody may have restored or continued the conversation.
      if ((await this.#files.sizesOf(conversation)) !== before) return null;
      const archive = adapterOf(conversation.vendor)?.storage.archive;
      if (archive) {
        const { code, stderr } = await askProgramOf(
          this.#services,
          conversation,
        )(archive.takeIn(this.#files.targetOf(conversation.id)));
        if (code !== 0)
          this.#services.log(`custody: ${conversation.vendor} did not take ${conversation.vendorId} back: ${stderr}`);
        if (code !== 0) return null;
      } else {
        if (transcript === null) return null;
        await this.#files.putBack(conversation, transcript, all);
      }
      const restored = this.describeRestored(conversation, record);
      await this.#recordRestored(conversation, restored);
      return restored;
    });
  }

  /** Takes the worker's own side of a split as the conversation; the whole transcript is set aside, in custody. */
  async restoreOwnBranch(conversation: Conversation, assertUnused: () => Promise<void>): Promise<Restored | null> {
    const { transcript } = conversation;
    return this.#copying.run(conversation.id, async () => {
      if (transcript === null) return null;
      const before = sizeOf(transcript);
      const own = join(dirname(transcript), `.${basename(transcript)}.perdure`);
      try {
        if (!(await writeOwnBranch(this.#services, conversation, own))) return null;
        const aside = freeName(`${this.#files.targetOf(conversation.id)}.split`);
        await copyWhole(transcript, aside);
        await assertUnused();
        if (sizeOf(transcript) !== before) return null;
        await rename(own, transcript);
        const bytes = sizeOf(transcript) ?? 0;
        await this.#recordRestored(conversation, { bytes, missingBytes: 0, aside });
        return { bytes, missingBytes: 0, aside };
      } finally {
        await rm(own, { force: true });
      }
    });
  }

  /** Reads the whole copy, if there is one, and tells whether it is intact. */
  hasIntactCopy(conversationId: number): Promise<boolean> {
    return this.#files.isIntact(conversationId);
  }

  /** Returns the file of the copy. */
  copyOf(conversationId: number): string {
    return this.#files.targetOf(conversationId);
  }

  /**
   * Returns the transcript as damaged if it no longer begins with what was copied, because somebody changed it. A file that was
   * not modified since the copy is not read again, unless `thorough`.
   */
  async checkAgainstCopy(conversation: Conversation, found: Transcript, thorough = false): Promise<Transcript> {
    const record = custodyOf(this.#services.db, conversation.id);
    if (found.state !== "good" || record === null) return found;
    return adapterOf(conversation.vendor)?.storage.archive
      ? this.#checkPrinted(conversation, found, record)
      : this.#files.check(conversation, found, thorough);
  }

  /** Says what a restored copy brings back, and what it lacks. */
  describeRestored(conversation: Conversation, record: CustodyCopy): Restored {
    const missingBytes = Math.max(0, (conversation.transcriptBytes ?? 0) - record.wholeBytes);
    return {
      bytes: record.wholeBytes,
      missingBytes,
      ...(conversation.copyBehind && missingBytes === 0 && { behindSince: iso(record.keptMs) }),
    };
  }

  /**
   * Returns a conversation of a database as damaged if messages are gone since the last run in it had ended: an older database was put in
   * the place of this one, or somebody else took them. In a run its user may take words back; only what nobody takes back so is damage.
   */
  async #checkPrinted(conversation: Conversation, found: GoodTranscript, record: CustodyCopy): Promise<Transcript> {
    const archive = adapterOf(conversation.vendor)?.storage.archive;
    const isKnown = found.printed === undefined || found.printed === record.sha256;
    if (!archive || isKnown || !(await this.#files.isIntact(conversation.id))) return found;
    const { code, stdout } = await askProgramOf(this.#services, conversation)(archive.print(conversation.vendorId));
    const count = code === 0 ? this.#goneFrom(conversation, stdout) : 0;
    if (count === 0) return found;
    const { file, bytes } = found;
    const [are, were] = count === 1 ? ["is", "was"] : ["are", "were"];
    const since = conversation.copyBehind ? `, and ${were} not taken back by its user` : " since its last run";
    const why = `${count} of its messages ${are} gone${since}`;
    return { state: "damaged", file, bytes, why, readable: true };
  }

  /** Counts the messages of the copy that are gone from what is printed now. */
  #goneFrom(conversation: Conversation, printed: string): number {
    const archive = adapterOf(conversation.vendor)?.storage.archive;
    const earlier = readIfReadable(this.#files.targetOf(conversation.id), CUSTODY_TRANSCRIPT_BYTES_MAX);
    if (!conversation.copyBehind) return archive?.missing(earlier, printed) ?? 0;
    return archive?.lost(earlier, printed) ?? 0;
  }

  /**
   * Tells whether the vendor has lost the transcript, so that the copy is to be put back: it is gone, emptied, or cut off by a
   * power cut, which a synced copy survives. A transcript that somebody changed is not lost.
   */
  isLost(conversation: Conversation, found: Transcript): boolean {
    if (conversation.transcriptBytes === null) return false;
    if (found.state === "absent" || found.state === "empty") return true;
    if (found.state !== "good" || found.shrinks) return false;
    const copy = custodyOf(this.#services.db, conversation.id);
    if (copy !== null && laterCopiesOf(this.#services.db, conversation.id).some(({ file }) => !sizeOf(file)))
      return true;
    const otherBoot = conversation.transcriptBoot !== this.#services.processes.bootId();
    return otherBoot && copy !== null && found.bytes < copy.wholeBytes;
  }

  /**
   * Deletes copies beyond the bounds, and the folders of conversations that nobody knows. The folder of a known one without a copy
   * on record stays as long as a copy would: when a new copy could not be made, it may hold the only file of both sides of a split.
   */
  async sweep(): Promise<void> {
    const { db, writer, now } = this.#services;
    const old = custodyToDrop(db, now() - CUSTODY_KEPT_MS, CUSTODY_BYTES_MAX);
    if (old.length > 0) await writer.write(() => old.forEach((id) => dropCustody(db, id)));
    const onRecord = new Set(custodyIds(db).map(String));
    for (const name of this.#folders()) {
      const [id, folder] = [Number(name), join(this.#services.paths.custody, name)];
      if (onRecord.has(name) || this.#copying.isBusy(id)) continue;
      const changedMs = statIfThere(folder)?.mtimeMs ?? 0;
      if (!old.includes(id) && conversationById(db, id) !== null && changedMs > now() - CUSTODY_KEPT_MS) continue;
      this.#files.forget(id);
      rmSync(folder, { recursive: true, force: true });
    }
  }

  /** Tells whether the copy is intact and is what the program has just printed: then it need not print that again. */
  async #hasCopyOf(conversationId: number, printed: string | undefined): Promise<boolean> {
    const record = custodyOf(this.#services.db, conversationId);
    return record !== null && record.sha256 === printed && (await this.#files.isIntact(conversationId));
  }

  /** Exports the conversation, and tells whether the copy is complete now. */
  async #exportArchive(conversation: Conversation): Promise<boolean> {
    const archive = adapterOf(conversation.vendor)?.storage.archive;
    if (!archive) return false;
    const { code, stdout } = await askProgramOf(this.#services, conversation)(archive.print(conversation.vendorId));
    if (code !== 0 || stdout.length === 0) return false;
    // A truncated export is worse than none.
    if (parseObject(stdout) === null) return false;
    // Nor does a conversation that has lost something replace what was kept of it.
    const isKept =
      custodyOf(this.#services.db, conversation.id) !== null && (await this.#files.isIntact(conversation.id));
    if (isKept && this.#goneFrom(conversation, stdout) > 0) return false;
    const target = this.#files.targetOf(conversation.id);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    if (statIfThere(target)) await rename(target, `${target}.before`);
    await writeFile(`${target}.new`, stdout, { mode: 0o600 });
    const copy = await copyWhole(`${target}.new`, target);
    await rm(`${target}.new`);
    const printed = { bytes: copy.bytes, sha256: digestOfCopy(copy), sourceBytes: copy.bytes, sourceChanged: "" };
    await this.#files.record(conversation, [[null, { state: "copied", copy: printed }]]);
    return true;
  }

  /** Records that the copy has everything that the runs in the conversation wrote. */
  async #recordComplete({ id, copyBehind }: Conversation): Promise<void> {
    if (copyBehind) await this.#services.writer.write(() => setCopyBehind(this.#services.db, id, false));
  }

  async #recordRestored(conversation: Conversation, restored: Restored): Promise<void> {
    const { db, writer, processes } = this.#services;
    const worker = workerById(db, conversation.workerId);
    await writer.write(() => {
      const { transcript, version } = conversation;
      setTranscript(db, conversation.id, {
        file: transcript ?? "",
        bytes: restored.bytes,
        version,
        boot: processes.bootId(),
      });
      setRestored(db, conversation.id, { ...restored, at: iso(this.#services.now()) });
      const subject = { workerId: conversation.workerId, ...(worker && { projectId: worker.projectId }) };
      recordEvent(this.#services, "session.restored", subject, {
        session: conversation.vendorId,
        ...restored,
      });
    });
  }

  #folders(): string[] {
    return namesIn(this.#services.paths.custody).filter((name) => /^[0-9]+$/.test(name));
  }
}
