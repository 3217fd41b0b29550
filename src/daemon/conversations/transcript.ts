import { statSync } from "node:fs";
import { CUSTODY_BUSY_MS, STRANGER_LOOK_MS, TRANSCRIPT_SEARCH_MS_MAX } from "../../limits/index.ts";
import type { Conversation } from "../../store/conversations.ts";
import { adapterOf } from "../../vendors/index.ts";
import type { ConversationServices } from "./services.ts";
import { probeConversation } from "./probe.ts";
import { recordTranscript } from "./bindings.ts";

/** Keeps in mind how much a conversation's transcript had, and a copy of it: then one that is gone, or shorter, is a loss. */
export class TranscriptWatch {
  readonly #services: ConversationServices;
  /** Where a hook said it would be. */
  #reported: { session: string; file: string } | null = null;
  #searchAtMs = 0;
  #copiedAtMs = 0;
  #searchWaitMs = STRANGER_LOOK_MS / 2;

  constructor(services: ConversationServices) {
    this.#services = services;
  }

  setReportedFile(conversation: Conversation, file: string): void {
    this.#reported = { session: conversation.vendorId, file };
  }

  /** Something is being said: what nobody found while all was quiet will be there in a moment. */
  noteActivity(): void {
    this.#searchAtMs = 0;
    this.#searchWaitMs = STRANGER_LOOK_MS / 2;
  }

  /** Written down once it is there, and between turns; copied then too, and now and then while it is being written. */
  async poll(conversation: Conversation, busy: boolean): Promise<void> {
    await this.#recordSize(conversation, busy);
    const now = this.#services.monotonicMs();
    if (busy && now - this.#copiedAtMs < CUSTODY_BUSY_MS) return;
    this.#copiedAtMs = now;
    // Not while it runs: each look is a start of the vendor's program.
    if (!adapterOf(conversation.vendor)?.storage.slowProbe) await this.#services.custody.updateCopy(conversation.id);
  }

  fileOf(conversation: Conversation): string | null {
    return this.#reported?.session === conversation.vendorId ? this.#reported.file : conversation.transcript;
  }

  async #recordSize(conversation: Conversation, busy: boolean): Promise<void> {
    if (adapterOf(conversation.vendor)?.storage.slowProbe) return;
    const known = conversation.transcriptBytes;
    if (known !== null && busy) return;
    const file = this.fileOf(conversation);
    if (file === null) return this.#search(conversation);
    const info = statSync(file, { throwIfNoEntry: false });
    const bytes = info?.isFile() === true ? info.size : 0;
    if (bytes <= (known ?? 0)) return;
    // The first time it is looked into: a file in which nothing was said yet is none.
    if (known === null) return this.#findAndRecord({ ...conversation, transcript: file });
    await this.#services.writer.write(() =>
      recordTranscript(this.#services, conversation, { file, bytes, version: null }),
    );
  }

  /** Nobody has told where it is: looked for less and less often. */
  async #search(conversation: Conversation): Promise<void> {
    const now = this.#services.monotonicMs();
    if (now < this.#searchAtMs) return;
    this.#searchWaitMs = Math.min(2 * this.#searchWaitMs, TRANSCRIPT_SEARCH_MS_MAX);
    this.#searchAtMs = now + this.#searchWaitMs;
    await this.#findAndRecord(conversation);
  }

  async #findAndRecord(conversation: Conversation): Promise<void> {
    const found = await probeConversation(this.#services, conversation);
    if (found.state === "good")
      await this.#services.writer.write(() => recordTranscript(this.#services, conversation, found));
  }
}
