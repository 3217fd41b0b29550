import { rmSync } from "node:fs";
import { RUN_FILE_BYTES_MAX } from "../../../limits/index.ts";
import { readIfReadable } from "../../../state/bounded-read.ts";
import { isErrno, writeFileAtomic } from "../../../state/files.ts";

/**
 * Knows whether a run's agent is in another worker's conversation, into which a person has led it. Some programs keep the conversation
 * open that they have left, so that its own one shows all the while: only a turn in it, or that the other one shows no longer, tells
 * that the agent is back. It is kept in a file, because an agent may tell the next daemon nothing of it until its next turn.
 */
export class ForeignConversation {
  readonly #file: string;
  readonly #now: () => number;
  readonly #onChange: (session: string | null) => Promise<void>;
  #session: string | null;
  #sinceMs: number;

  /** `onChange` is told the conversation, or null when the agent is back in its own. */
  constructor(file: string, now: () => number, onChange: (session: string | null) => Promise<void>) {
    this.#file = file;
    this.#session = readIfReadable(file, RUN_FILE_BYTES_MAX) || null;
    this.#now = now;
    this.#sinceMs = now();
    this.#onChange = onChange;
  }

  /** The conversation that the agent is in; null while that is its worker's own. */
  get session(): string | null {
    return this.#session;
  }

  async enter(session: string): Promise<void> {
    this.#sinceMs = this.#now();
    await this.#set(session);
  }

  async leave(): Promise<void> {
    await this.#set(null);
  }

  /** Applies the conversations that the agent shows as open beside its own. */
  async onShown(sessions: readonly string[]): Promise<void> {
    if (this.#session !== null && !sessions.includes(this.#session)) await this.leave();
  }

  /** Applies the time of the last turn that was written to the worker's own conversation. */
  async onOwnTurn(atMs: number): Promise<void> {
    if (atMs > this.#sinceMs) await this.leave();
  }

  async #set(session: string | null): Promise<void> {
    if (session === this.#session) return;
    this.#session = session;
    if (session === null) rmSync(this.#file, { force: true });
    else this.#save(session);
    await this.#onChange(session);
  }

  /** Keeps it for the next daemon, as far as the disk takes it. */
  #save(session: string): void {
    try {
      writeFileAtomic(this.#file, session);
    } catch (error) {
      if (!isErrno(error, "ENOSPC", "EDQUOT")) throw error;
    }
  }
}
