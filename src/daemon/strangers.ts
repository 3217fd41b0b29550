import { STRANGER_LOOK_MS } from "../limits.ts";
import type { SessionRow } from "../store/sessions.ts";
import type { Adapter } from "../vendors/index.ts";
import type { Watched } from "./house.ts";
import { placeOf } from "./looking.ts";

/** Others that have opened a conversation behind our back: flagged, because the vendor will not refuse them. */
export class StrangerLooks {
  readonly #house: Watched;
  readonly #adapter: Adapter;
  #atMs = 0;
  #suspects: number[] = [];
  known: number[] = [];

  constructor(house: Watched, adapter: Adapter) {
    this.#house = house;
    this.#adapter = adapter;
  }

  /** Those that were not known before. `own` is the run's agent: before that is known, it would be taken for one. */
  look(session: SessionRow, own: readonly number[]): number[] {
    const now = this.#house.monotonicMs();
    if (now - this.#atMs < STRANGER_LOOK_MS) return [];
    this.#atMs = now;
    if (own.length === 0) return [];
    const holders = this.#adapter.holders(placeOf(session), this.#house.processes).map(({ pid }) => pid);
    const others = holders.filter((pid) => !own.includes(pid));
    // Seen twice: a process between fork and exec has what its parent has, for a moment.
    const strangers = others.filter((pid) => this.#suspects.includes(pid));
    if (others.length > strangers.length) this.#atMs = 0;
    const news = strangers.filter((pid) => !this.known.includes(pid));
    this.#suspects = others;
    this.known = strangers;
    return news;
  }
}
