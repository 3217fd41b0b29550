import { statSync } from "node:fs";
import { CUSTODY_BUSY_MS, STRANGER_LOOK_MS, TRANSCRIPT_SEARCH_MS_MAX } from "../../limits/index.ts";
import type { Conversation } from "../../store/conversations.ts";
import { adapterOf } from "../../vendors/index.ts";
import type { ConversationServices } from "./services.ts";
import { probeSession } from "./probe.ts";
import { noteTranscript } from "./bindings.ts";

/** Keeps in mind how much a conversation's transcript had, and a copy of it: then one that is gone, or shorter, is a loss. */
export class TranscriptWatch {
  readonly #services: ConversationServices;
  /** Where a hook said it would be. */
  #told: { session: string; file: string } | null = null;
  #searchAtMs = 0;
  #keptAtMs = 0;
  #searchWaitMs = STRANGER_LOOK_MS / 2;

  constructor(services: ConversationServices) {
    this.#services = services;
  }

  setFile(session: Conversation, file: string): void {
    this.#told = { session: session.vendorId, file };
  }

  /** Something is being said: what nobody found while all was quiet will be there in a moment. */
  activity(): void {
    this.#searchAtMs = 0;
    this.#searchWaitMs = STRANGER_LOOK_MS / 2;
  }

  /** Written down once it is there, and between turns; copied then too, and now and then while it is being written. */
  async poll(session: Conversation, busy: boolean): Promise<void> {
    await this.#note(session, busy);
    const now = this.#services.monotonicMs();
    if (busy && now - this.#keptAtMs < CUSTODY_BUSY_MS) return;
    this.#keptAtMs = now;
    // Not while it runs: each look is a start of the vendor's program.
    if (!adapterOf(session.vendor)?.storage.slowProbe) await this.#services.custody.keep(session.id);
  }

  fileOf(session: Conversation): string | null {
    return this.#told?.session === session.vendorId ? this.#told.file : session.transcript;
  }

  async #note(session: Conversation, busy: boolean): Promise<void> {
    if (adapterOf(session.vendor)?.storage.slowProbe) return;
    const known = session.transcriptBytes;
    if (known !== null && busy) return;
    const file = this.fileOf(session);
    if (file === null) return this.#search(session);
    const info = statSync(file, { throwIfNoEntry: false });
    const bytes = info?.isFile() === true ? info.size : 0;
    if (bytes <= (known ?? 0)) return;
    // The first time it is looked into: a file in which nothing was said yet is none.
    if (known === null) return this.#find({ ...session, transcript: file });
    await this.#services.writer.write(() => noteTranscript(this.#services, session, { file, bytes, version: null }));
  }

  /** Nobody has told where it is: looked for less and less often. */
  async #search(session: Conversation): Promise<void> {
    const now = this.#services.monotonicMs();
    if (now < this.#searchAtMs) return;
    this.#searchWaitMs = Math.min(2 * this.#searchWaitMs, TRANSCRIPT_SEARCH_MS_MAX);
    this.#searchAtMs = now + this.#searchWaitMs;
    await this.#find(session);
  }

  async #find(session: Conversation): Promise<void> {
    const found = await probeSession(this.#services, session);
    if (found.state === "good") await this.#services.writer.write(() => noteTranscript(this.#services, session, found));
  }
}
