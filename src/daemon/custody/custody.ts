import { constants, lstatSync, rmSync } from "node:fs";
import { copyFile, link, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { CUSTODY_BYTES_MAX, CUSTODY_KEPT_MS, CUSTODY_TRANSCRIPT_BYTES_MAX } from "../../limits/index.ts";
import type { Restored } from "../../protocol/records/restored.ts";
import type { GoodTranscript, Transcript } from "../../protocol/records/conversation.ts";
import { readIfReadable } from "../../state/bounded-read.ts";
import { isErrno, statExactly, statIfThere, writeFileAtomic } from "../../state/files.ts";
import { copyRegular } from "../../state/open-regular.ts";
import {
  custodyIds,
  custodyOf,
  custodyToDrop,
  dropCustody,
  setCustody,
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
import { askProgramOf, probeConversation } from "../conversations/probe.ts";
import { changeMark, companionsOf, freeName, namesIn, isSourceUnchanged, sizeOf } from "./files.ts";
import { ownBranchOf } from "./split.ts";
import { appendTail, copyWhole, digestOfCopy, hashPrefix, type Copy } from "./copy.ts";

type CustodyServices = Pick<BaseServices, "db" | "writer" | "paths" | "processes" | "now" | "log">;

interface UpdateOptions {
  /** Where the transcript lies. */
  file?: string;
  /** The digest of what the vendor's program has just printed of the conversation: a copy of that is up to date. */
  printed?: string;
  /** Reads the copy, and makes another one if it is damaged. */
  verify?: boolean;
  /** No run writes any more. */
  final?: boolean;
}

/**
 * Copies of the workers' conversations, safe from the vendors' clean-ups: updated when a turn or a run ends and while an
 * agent works, restored before a resume if the vendor lost the original. Files are copied, not linked: a link shares damage.
 */
export class Custody {
  readonly #services: CustodyServices;
  /** Running hashes of the copies; after a restart of the daemon a copy is read once to rebuild its hash. */
  readonly #copies = new Map<number, Copy>();
  /** Lets one operation at a time run for each conversation. */
  readonly #copying = new KeyedMutex<number>();

  constructor(services: CustodyServices) {
    this.#services = services;
  }

  /** Brings the copy up to date with the vendor's transcript. A failure is logged and has no other effect. */
  async updateCopy(
    conversationId: number,
    { file, printed, verify = false, final = false }: UpdateOptions = {},
  ): Promise<void> {
    await this.#copying.run(conversationId, async () => {
      try {
        const found = conversationById(this.#services.db, conversationId);
        const conversation = found && { ...found, transcript: file ?? found.transcript };
        if (!conversation) return;
        const complete = await (adapterOf(conversation.vendor)?.storage.archive
          ? (await this.#hasCopyOf(conversation.id, printed)) || (await this.#exportArchive(conversation))
          : this.#copyTranscript(conversation, verify));
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
    this.#copies.delete(conversationId);
    await this.updateCopy(conversationId);
  }

  /** Puts the copy back where the vendor looks for it. Returns null when there is no copy, or it is not intact. */
  async restore(conversation: Conversation, assertUnused: () => void = () => undefined): Promise<Restored | null> {
    const before = sizeOf(conversation.transcript);
    return this.#copying.run(conversation.id, async () => {
      const record = custodyOf(this.#services.db, conversation.id);
      if (record === null || (await this.#verifiedCopy(record)) === null) return null;
      // Reading the whole copy took a while, in which somebody may have restored or continued the conversation.
      if (sizeOf(conversation.transcript) !== before) return null;
      assertUnused();
      const archive = adapterOf(conversation.vendor)?.storage.archive;
      if (archive) {
        const { code, stderr } = await askProgramOf(
          this.#services,
          conversation,
        )(archive.takeIn(this.#file(conversation.id)));
        if (code !== 0)
          this.#services.log(`custody: ${conversation.vendor} did not take ${conversation.vendorId} back: ${stderr}`);
        if (code !== 0) return null;
      } else {
        if (conversation.transcript === null) return null;
        await this.#putBack(conversation.id, conversation.transcript);
      }
      const restored = this.describeRestored(conversation, record);
      await this.#recordRestored(conversation, restored);
      return restored;
    });
  }

  /** Takes the worker's own side of a split as the conversation; the whole transcript is set aside, in custody. */
  async restoreOwnBranch(conversation: Conversation, assertUnused: () => void): Promise<Restored | null> {
    const { transcript } = conversation;
    return this.#copying.run(conversation.id, async () => {
      const text = await ownBranchOf(this.#services, conversation);
      if (transcript === null || text === null) return null;
      const before = sizeOf(transcript);
      const aside = freeName(`${this.#file(conversation.id)}.split`);
      await copyWhole(transcript, aside);
      if (sizeOf(transcript) !== before) return null;
      assertUnused();
      writeFileAtomic(transcript, text);
      const bytes = Buffer.byteLength(text);
      await this.#recordRestored(conversation, { bytes, missingBytes: 0, aside });
      return { bytes, missingBytes: 0, aside };
    });
  }

  /** Reads the whole copy, if there is one, and tells whether it is intact. */
  async hasIntactCopy(conversationId: number): Promise<boolean> {
    const record = custodyOf(this.#services.db, conversationId);
    return record !== null && (await this.#verifiedCopy(record)) !== null;
  }

  /** Returns the file of the copy. */
  copyOf(conversationId: number): string {
    return this.#file(conversationId);
  }

  /** Says what a restored copy brings back, and what it lacks. */
  describeRestored(conversation: Conversation, record: CustodyCopy): Restored {
    const missingBytes = Math.max(0, (conversation.transcriptBytes ?? 0) - record.bytes);
    return {
      bytes: record.bytes,
      missingBytes,
      ...(conversation.copyBehind && missingBytes === 0 && { behindSince: iso(record.keptMs) }),
    };
  }

  async #verifiedCopy(record: CustodyCopy): Promise<Copy | null> {
    try {
      const copy = await hashPrefix(this.#file(record.conversationId), record.bytes);
      return copy && digestOfCopy(copy) === record.sha256 ? copy : null;
    } catch (error) {
      if (isErrno(error, "ENOENT", "ENOTDIR", "EACCES", "EIO")) return null;
      throw error;
    }
  }

  /**
   * Returns the transcript as damaged if it no longer begins with what was copied, because somebody changed it. A file that
   * was not modified since the copy is not read again, unless `thorough`.
   */
  async checkAgainstCopy(conversation: Conversation, found: Transcript, thorough = false): Promise<Transcript> {
    const record = custodyOf(this.#services.db, conversation.id);
    if (found.state !== "good" || record === null) return found;
    if (adapterOf(conversation.vendor)?.storage.archive) return this.#checkPrinted(conversation, found, record);
    if (!thorough && isSourceUnchanged(record, found.file)) return found;
    if (found.bytes < record.bytes) return found; // a shorter file is detected by its size
    const copy = await hashPrefix(found.file, record.bytes);
    if (copy && digestOfCopy(copy) === record.sha256) return found;
    const { file, bytes } = found;
    return { state: "damaged", file, bytes, why: "its beginning was changed", readable: true };
  }

  /**
   * Returns a conversation of a database as damaged if messages are gone since the last run in it had ended. In a run its user may
   * take words back; between two runs an older database was put in the place of this one, or somebody else took them.
   */
  async #checkPrinted(conversation: Conversation, found: GoodTranscript, record: CustodyCopy): Promise<Transcript> {
    const archive = adapterOf(conversation.vendor)?.storage.archive;
    const isKnown = found.printed === undefined || found.printed === record.sha256;
    if (!archive || isKnown || conversation.copyBehind || (await this.#verifiedCopy(record)) === null) return found;
    const earlier = readIfReadable(this.#file(conversation.id), CUSTODY_TRANSCRIPT_BYTES_MAX);
    const { code, stdout } = await askProgramOf(this.#services, conversation)(archive.print(conversation.vendorId));
    const count = code === 0 ? archive.missing(earlier, stdout) : 0;
    if (count === 0) return found;
    const { file, bytes } = found;
    const why = `${count} of its messages ${count === 1 ? "is" : "are"} gone since its last run`;
    return { state: "damaged", file, bytes, why, readable: true };
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
    const otherBoot = conversation.transcriptBoot !== this.#services.processes.bootId();
    return otherBoot && copy !== null && found.bytes < copy.bytes;
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
      this.#copies.delete(id);
      rmSync(folder, { recursive: true, force: true });
    }
  }

  /** Copies the transcript, and tells whether the copy is complete now. */
  async #copyTranscript(conversation: Conversation, verify: boolean): Promise<boolean> {
    const source = conversation.transcript;
    if (adapterOf(conversation.vendor)?.storage.noCopyReason !== undefined) return false;
    const stat = source === null ? undefined : statExactly(source);
    if (source === null || !stat?.isFile() || stat.size === 0n) return false;
    const record = custodyOf(this.#services.db, conversation.id);
    const before = { sourceBytes: Number(stat.size), sourceChanged: changeMark(stat) };
    if (record && isSourceUnchanged(record, source) && (await this.#isThere(record, verify))) return true;
    if (stat.size > CUSTODY_TRANSCRIPT_BYTES_MAX) {
      this.#services.log(`custody: ${conversation.vendorId} has ${stat.size} bytes, too many to be copied`);
      return false;
    }
    // Transcripts only grow: one that got shorter has lost something, which the copy may still have.
    if (before.sourceBytes < Math.max(record?.bytes ?? 0, conversation.transcriptBytes ?? 0)) return false;
    const target = this.#file(conversation.id);
    const known = record && (await this.#intactCopy(record, verify));
    const grown = known && (await appendTail(source, target, known));
    // The vendor rewrote the transcript: a good one is the conversation from now on, and the earlier copy is saved.
    if (known && !grown && (await probeConversation(this.#services, conversation)).state !== "good") return false;
    if (known && !grown) await rename(target, `${target}.before`);
    const copy = grown ?? (await copyWhole(source, target));
    this.#copies.set(conversation.id, copy);
    await this.#copyCompanions(conversation);
    await this.#recordCopy(conversation, copy, before);
    return true;
  }

  /** Tells whether the copy of an unchanged transcript is still there: by its size, or by reading it. */
  async #isThere(record: CustodyCopy, verify: boolean): Promise<boolean> {
    if (verify) return (await this.#verifiedCopy(record)) !== null;
    return (sizeOf(this.#file(record.conversationId)) ?? -1) >= record.bytes;
  }

  /** Returns the copy from its running hash, or by reading it; null for one that is not intact and has to be made again. */
  async #intactCopy(record: CustodyCopy, verify: boolean): Promise<Copy | null> {
    const copy = this.#copies.get(record.conversationId);
    const isKnown = copy?.bytes === record.bytes && digestOfCopy(copy) === record.sha256;
    return isKnown && (await this.#isThere(record, verify)) ? copy : this.#verifiedCopy(record);
  }

  /** Tells whether the copy is intact and is what the program has just printed: then it need not print that again. */
  async #hasCopyOf(conversationId: number, printed: string | undefined): Promise<boolean> {
    const record = custodyOf(this.#services.db, conversationId);
    return record !== null && record.sha256 === printed && (await this.#verifiedCopy(record)) !== null;
  }

  /** Exports the conversation, and tells whether the copy is complete now. */
  async #exportArchive(conversation: Conversation): Promise<boolean> {
    const archive = adapterOf(conversation.vendor)?.storage.archive;
    if (!archive) return false;
    const { code, stdout } = await askProgramOf(this.#services, conversation)(archive.print(conversation.vendorId));
    if (code !== 0 || stdout.length === 0) return false;
    // A truncated export is worse than none.
    if (parseObject(stdout) === null) return false;
    const target = this.#file(conversation.id);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    if (statIfThere(target)) await rename(target, `${target}.before`);
    await writeFile(`${target}.new`, stdout, { mode: 0o600 });
    const copy = await copyWhole(`${target}.new`, target);
    await rm(`${target}.new`);
    await this.#recordCopy(conversation, copy, { sourceBytes: copy.bytes, sourceChanged: "" });
    return true;
  }

  /** Records that the copy has everything that the runs in the conversation wrote. */
  async #recordComplete({ id, copyBehind }: Conversation): Promise<void> {
    if (copyBehind) await this.#services.writer.write(() => setCopyBehind(this.#services.db, id, false));
  }

  async #copyCompanions(conversation: Conversation): Promise<void> {
    for (const file of companionsOf(conversation)) {
      const target = join(dirname(this.#file(conversation.id)), "companions", basename(file));
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      if (statIfThere(file)?.isFile()) await copyRegular(file, target);
    }
  }

  async #recordCopy(
    conversation: Conversation,
    copy: Copy,
    source: Pick<CustodyCopy, "sourceBytes" | "sourceChanged">,
  ): Promise<void> {
    const row = {
      conversationId: conversation.id,
      bytes: copy.bytes,
      sha256: digestOfCopy(copy),
      keptMs: this.#services.now(),
    };
    await this.#services.writer.write(() => {
      // The conversation may have been deleted meanwhile; the next sweep then deletes its copy.
      const now = conversationById(this.#services.db, conversation.id);
      if (now === null) return;
      setCustody(this.#services.db, { ...row, ...source });
      // From now on a shorter transcript is a loss.
      if (now.transcript === null || copy.bytes <= (now.transcriptBytes ?? 0)) return;
      const boot = this.#services.processes.bootId();
      setTranscript(this.#services.db, now.id, { file: now.transcript, bytes: copy.bytes, version: null, boot });
    });
  }

  /** Puts the copy in the transcript's place; what is left of the original is renamed and stays beside it. */
  async #putBack(conversationId: number, transcript: string): Promise<void> {
    await mkdir(dirname(transcript), { recursive: true, mode: 0o700 });
    const aside = join(dirname(transcript), `.${basename(transcript)}.perdure`);
    // In a vendor's folder anything may have the name: a fifo would wait for its reader, a link lead elsewhere.
    await rm(aside, { force: true });
    await copyFile(this.#file(conversationId), aside, constants.COPYFILE_EXCL);
    if (lstatSync(transcript, { throwIfNoEntry: false })) await rename(transcript, freeName(`${transcript}.lost`));
    try {
      // A link fails where the vendor has just made a file, and does not overwrite it.
      await link(aside, transcript);
    } finally {
      await rm(aside);
    }
    const companions = join(dirname(this.#file(conversationId)), "companions");
    for (const name of namesIn(companions)) {
      const target = join(dirname(transcript), name);
      if (lstatSync(target, { throwIfNoEntry: false })) continue;
      await copyFile(join(companions, name), target, constants.COPYFILE_EXCL);
    }
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

  #file(conversationId: number): string {
    return join(this.#services.paths.custody, String(conversationId), "transcript");
  }

  #folders(): string[] {
    return namesIn(this.#services.paths.custody).filter((name) => /^[0-9]+$/.test(name));
  }
}
