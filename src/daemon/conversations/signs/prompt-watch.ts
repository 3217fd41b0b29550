import { PROMPT_WRITTEN_MS } from "../../../limits/index.ts";
import type { Sign } from "../../../protocol/records/conversation.ts";

/**
 * Notes what hooks told of prompts in one run, so that a conversation in which something was said must have a transcript. Only what
 * an agent tells by itself counts: a registry may call it busy for a command that no model ever sees.
 */
export class PromptWatch {
  #session: string | null = null;
  #busySinceMs: number | null = null;
  #answered = false;

  onSign({ session, activity }: Sign, nowMs: number): void {
    if (session !== this.#session) {
      this.#session = session;
      this.#busySinceMs = null;
      this.#answered = false;
    }
    if (activity === "busy") this.#busySinceMs ??= nowMs;
    else if (activity === "idle" && this.#busySinceMs !== null) this.#answered = true;
  }

  /** Tells whether something was said in the conversation long enough ago to be on disk, or answered. */
  mustBeWritten(session: string, nowMs: number): boolean {
    if (session !== this.#session || this.#busySinceMs === null) return false;
    return this.#answered || nowMs - this.#busySinceMs >= PROMPT_WRITTEN_MS;
  }
}
