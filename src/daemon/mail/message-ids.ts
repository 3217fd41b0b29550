import { randomFillSync } from "node:crypto";
import { MESSAGE_ID_PERIOD_MS } from "../../limits/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { hintOf, verb } from "../../protocol/hint.ts";
import { storeUid } from "../../store/meta.ts";
import type { Message } from "../../store/messages.ts";
import type { BaseServices } from "../base-services.ts";

/** Letters and digits that are not mistaken for each other. */
const ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789";
/** The characters of an id that are left to chance. */
const CHOSEN_BY_CHANCE = 10;
const IDS_PER_DRAW = 64;

/**
 * Makes ids of messages: twelve characters, unguessable and easy to type. The first two say in which hours the message was sent, so
 * that the index of a million ids is written at one place: at random places a send would cost a third more.
 */
export class MessageIds {
  /** Random bytes are drawn for many ids at a time, because each draw costs as much as the rest of an id. */
  readonly #random = new Uint8Array(IDS_PER_DRAW * CHOSEN_BY_CHANCE);
  #used = this.#random.length;

  mint(nowMs = Date.now()): string {
    if (this.#used + CHOSEN_BY_CHANCE > this.#random.length) {
      randomFillSync(this.#random);
      this.#used = 0;
    }
    const bytes = this.#random.subarray(this.#used, this.#used + CHOSEN_BY_CHANCE);
    this.#used += CHOSEN_BY_CHANCE;
    let id = periodOf(nowMs);
    for (const byte of bytes) id += ALPHABET[byte % ALPHABET.length];
    return id;
  }
}

/** Returns the id of a message that no message of another machine has either: its sender may have chosen the id. */
export function messageUid({ db }: Pick<BaseServices, "db">, id: string): string {
  return `${storeUid(db)}.${id}`;
}

/** Returns two characters for six hours; they come round again after eight months. */
function periodOf(nowMs: number): string {
  const period = Math.floor(nowMs / MESSAGE_ID_PERIOD_MS) % ALPHABET.length ** 2;
  return ALPHABET.charAt(Math.floor(period / ALPHABET.length)) + ALPHABET.charAt(period % ALPHABET.length);
}

/**
 * Judges a message under an id that was used before: the same text is the same message, sent again because its answer was
 * lost, and any other text is a conflict.
 */
export function assertSameMessage(known: Message, digest: string): void {
  if (known.digest === digest) return;
  throw new PerdureError("conflict", `The id ${known.id} was used for another message.`, {
    hint: hintOf`choose another id; the message with this one: ${verb("mail", known.id)}`,
    details: { id: known.id, state: known.state },
  });
}
