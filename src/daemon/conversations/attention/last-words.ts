import { stripVTControlCharacters } from "node:util";
import { EXCERPT_CHARS_MAX, SAID_CHARS_MAX } from "../../../limits/index.ts";
import { withoutSecrets } from "../../../util/secret-like.ts";
import { withoutValues } from "./vendor-words.ts";

/**
 * Remembers the beginning of what was said last in a run's conversation, as its hooks or its transcript have told it anyway. It is
 * kept in memory only: what is said belongs to the vendor's files.
 */
export class LastWords {
  #words: string | null = null;
  #excerpt: string | null = null;

  note(said: string | undefined): void {
    if (said === undefined || said.trim() === "") return;
    this.#words = said.slice(0, SAID_CHARS_MAX);
    this.#excerpt = null;
  }

  /** The run has entered another conversation. */
  forget(): void {
    this.#words = null;
    this.#excerpt = null;
  }

  /** Returns them in one short line, without the secrets of the worker's environment; null where nobody has told any. */
  shown(environment: () => Readonly<Record<string, string>>): string | null {
    // Made once for all listings: an agent may say things that take long to search.
    if (this.#words !== null) this.#excerpt ??= excerptOf(this.#words, environment());
    return this.#excerpt;
  }
}

/** Makes one short line of it, without control characters and without what looks like a secret. */
function excerptOf(words: string, environment: Readonly<Record<string, string>>): string {
  const line = stripVTControlCharacters(words)
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim();
  // Before it is cut: half a secret looks like none.
  const told = withoutSecrets(withoutValues(line, environment));
  return told.length <= EXCERPT_CHARS_MAX ? told : `${told.slice(0, EXCERPT_CHARS_MAX - 1).trimEnd()}…`;
}
