import { randomFillSync } from "node:crypto";
import { PerdureError } from "../../protocol/errors.ts";
import type { Message } from "../../store/messages.ts";

/** Letters and digits that are not mistaken for each other. */
const ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789";
const ID_CHARS = 12;
const IDS_PER_DRAW = 64;

/** Makes ids of messages: twelve characters, unguessable and easy to type. */
export class MessageIds {
  /** Random bytes are drawn for many ids at a time, because each draw costs as much as the rest of an id. */
  readonly #random = new Uint8Array(IDS_PER_DRAW * ID_CHARS);
  #used = this.#random.length;

  mint(): string {
    if (this.#used + ID_CHARS > this.#random.length) {
      randomFillSync(this.#random);
      this.#used = 0;
    }
    const bytes = this.#random.subarray(this.#used, this.#used + ID_CHARS);
    this.#used += ID_CHARS;
    let id = "";
    for (const byte of bytes) id += ALPHABET[byte % ALPHABET.length];
    return id;
  }
}

/**
 * Judges a message under an id that was used before: the same text is the same message, sent again because its answer was
 * lost, and any other text is a conflict.
 */
export function assertSameMessage(known: Message, digest: string): void {
  if (known.digest === digest) return;
  throw new PerdureError("conflict", `The id ${known.id} was used for another message.`, {
    hint: `choose another id; the message with this one: perdure mail ${known.id}`,
    details: { id: known.id, state: known.state },
  });
}
