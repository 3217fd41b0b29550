import { CUSTODY_BUSY_MS, TRANSCRIPT_SEARCH_MS, TRANSCRIPT_SEARCH_MS_MAX } from "../../../limits/index.ts";
import { statIfThere } from "../../../state/files.ts";
import type { Conversation } from "../../../store/conversations.ts";
import { adapterOf } from "../../../vendors/index.ts";
import type { ConversationServices } from "../services.ts";
import { probeConversation } from "../probe/probe.ts";
import { recordTranscript } from "../binding/bindings.ts";

/** Records the size of a conversation's transcript and updates its copy, so that a missing or shorter one is known as a loss. */
export class TranscriptWatch {
  readonly #services: ConversationServices;
  /** The path that a hook reported. */
  #reported: { session: string; file: string } | null = null;
  /** The file that the process was seen to write to. */
  #written: { session: string; file: string } | null = null;
  #searchAtMs = 0;
  #copiedAtMs = 0;
  #searchWaitMs = TRANSCRIPT_SEARCH_MS;

  constructor(services: ConversationServices) {
    this.#services = services;
  }

  setReportedFile(conversation: Conversation, file: string): void {
    this.#reported = { session: conversation.vendorId, file };
  }

  setWrittenFile(session: string, file: string): void {
    this.#written = { session, file };
  }

  /** Restarts the search, because an active conversation is about to write its transcript. */
  noteActivity(): void {
    this.#searchAtMs = 0;
    this.#searchWaitMs = TRANSCRIPT_SEARCH_MS;
  }

  /** Records and copies the transcript when it appears and between turns; also copies it now and then during a turn. */
  async poll(conversation: Conversation, busy: boolean): Promise<void> {
    await this.#recordSize(conversation, busy);
    const now = this.#services.monotonicMs();
    if (busy && now - this.#copiedAtMs < CUSTODY_BUSY_MS) return;
    this.#copiedAtMs = now;
    // Where each probe starts the vendor's program, no copy is made while the agent runs.
    if (adapterOf(conversation.vendor)?.storage.slowProbe) return;
    await this.#services.custody.updateCopy(conversation.id, { written: this.#writtenOf(conversation) });
  }

  /** Returns the file in which what is said now is found: the transcript, or a later file of the same conversation. */
  fileOf(conversation: Conversation): string | null {
    return this.#writtenOf(conversation) ?? this.#transcriptOf(conversation);
  }

  #writtenOf(conversation: Conversation): string | undefined {
    return this.#written?.session === conversation.vendorId ? this.#written.file : undefined;
  }

  #transcriptOf(conversation: Conversation): string | null {
    return this.#reported?.session === conversation.vendorId ? this.#reported.file : conversation.transcript;
  }

  async #recordSize(conversation: Conversation, busy: boolean): Promise<void> {
    if (adapterOf(conversation.vendor)?.storage.slowProbe) return;
    const known = conversation.transcriptBytes;
    if (known !== null && busy) return;
    const file = this.#transcriptOf(conversation);
    if (file === null) return this.#search(conversation);
    const info = statIfThere(file);
    const bytes = info?.isFile() === true ? info.size : 0;
    if (bytes <= (known ?? 0)) return;
    // The first time the file is read: one in which nothing was said yet does not count.
    if (known === null) return this.#findAndRecord({ ...conversation, transcript: file });
    await this.#services.writer.write(() =>
      recordTranscript(this.#services, conversation, { file, bytes, version: null }),
    );
  }

  /** Searches for a transcript whose path no hook reported, less and less often. */
  async #search(conversation: Conversation): Promise<void> {
    const now = this.#services.monotonicMs();
    if (now < this.#searchAtMs) return;
    this.#searchAtMs = now + this.#searchWaitMs;
    this.#searchWaitMs = Math.min(2 * this.#searchWaitMs, TRANSCRIPT_SEARCH_MS_MAX);
    await this.#findAndRecord(conversation);
  }

  async #findAndRecord(conversation: Conversation): Promise<void> {
    const found = await probeConversation(this.#services, conversation);
    if (found.state === "good")
      await this.#services.writer.write(() => recordTranscript(this.#services, conversation, found));
  }
}
