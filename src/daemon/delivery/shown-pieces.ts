import type { DeliveryFacet, WakePlace } from "../../vendors/delivery.ts";
import { isShown, type TakenPiece } from "./pieces.ts";
import { TranscriptSearch } from "./transcript-search.ts";

/** Finds out which pieces a conversation shows: by its transcript, by whoever has put one there, or by asking the program. */
export class ShownPieces {
  readonly #search: TranscriptSearch;
  readonly #facet: DeliveryFacet;

  constructor(facet: DeliveryFacet) {
    this.#facet = facet;
    this.#search = new TranscriptSearch(facet.toldIn);
  }

  /** Returns the pieces that are shown by what lies on the disk. */
  onDisk(pieces: readonly TakenPiece[], transcript: string | null): TakenPiece[] {
    const found = transcript === null ? new Set<string>() : this.#search.find(transcript, pieces);
    return pieces.filter((piece) => found.has(piece.mark) || isShown(piece));
  }

  /** Returns the pieces that the program says are there. One that does not answer is asked again, until it has had its time. */
  async byProgram(pieces: readonly TakenPiece[], place: WakePlace): Promise<TakenPiece[]> {
    const shown: TakenPiece[] = [];
    for (const piece of pieces) {
      if (await this.#facet.shows?.(piece.mark, place).catch(() => false)) shown.push(piece);
    }
    return shown;
  }
}
