import { PASTE_SHOWN_MS, STANDING_REVIEW_MS } from "../../limits/index.ts";
import type { WakeChannel, WakePlace } from "../../vendors/delivery.ts";
import type { HandedOver, LostPiece } from "./handed-over.ts";

/**
 * Sees to a text with which the agent was to be woken, and which it does not show: a daemon that died, or a program that was slow, may
 * have left it half-way, where a person types.
 */
export class UnfinishedWake {
  readonly #handed: HandedOver;
  readonly #monotonicMs: () => number;
  #looksAgainAtMs = 0;
  /** The text stands where a person types, beside something else, so nobody but that person may send it. */
  standsInInput = false;

  constructor(handed: HandedOver, monotonicMs: () => number) {
    this.#handed = handed;
    this.#monotonicMs = monotonicMs;
  }

  /** Gives the program its time to take a text that was handed over just now. */
  begun(): void {
    this.#looksAgainAtMs = this.#monotonicMs() + PASTE_SHOWN_MS;
  }

  /** Tells whether there is such a text, and it is time to look at it. */
  isDue(wake: WakeChannel | null): boolean {
    if (this.#textIn(wake) === null) this.standsInInput = false;
    return this.#textIn(wake) !== null && this.#monotonicMs() >= this.#looksAgainAtMs;
  }

  /** Finishes what only was to be finished, in an idle program. Returns the piece if the program was never given it. */
  async finish(wake: WakeChannel, place: WakePlace): Promise<LostPiece | null> {
    const text = this.#textIn(wake);
    if (text === null) return null;
    const is = await wake.finish?.(text, place);
    this.standsInInput = is === "in the input line";
    this.#looksAgainAtMs = this.#monotonicMs() + (is === "given now" ? PASTE_SHOWN_MS : STANDING_REVIEW_MS);
    if (is === "given now" || is === "in the input line") this.#handed.waitLonger(text.piece);
    return is === "never given" ? { piece: text.piece, why: "its daemon ended first", wasHandedOver: false } : null;
  }

  /** Returns the unseen piece that this channel was given, as the channel knows it. */
  #textIn(wake: WakeChannel | null): { piece: LostPiece["piece"]; mark: string; lines: number } | null {
    const piece = this.#handed.unseenWake();
    if (wake?.finish === undefined || piece?.lines === undefined || piece.channel !== wake.name) return null;
    return { piece, mark: piece.mark, lines: piece.lines };
  }
}
