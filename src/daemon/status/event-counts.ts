import { TURN_BOUNDS_SECONDS } from "../../limits/index.ts";
import { lastEventSeq } from "../../store/events.ts";
import { countedEvents, type CountedEvent } from "../../store/metrics.ts";
import type { TurnEnd } from "../../store/turns.ts";
import { textOf } from "../../util/fields.ts";
import { Histogram } from "../../util/histogram.ts";
import type { BaseServices } from "../base-services.ts";

/**
 * Counts what has happened since the daemon's start, from the events that were recorded anyway: nothing is counted until somebody asks,
 * and then only what is new.
 */
export class EventCounts {
  readonly turns = new Histogram(TURN_BOUNDS_SECONDS);
  readonly turnOutcomes = new Map<string, number>(TURN_ENDS.map((outcome) => [outcome, 0]));
  readonly runEnds = new Map<string, number>();
  readonly proofs = new Map<string, number>([
    ["proved", 0],
    ["mismatch", 0],
  ]);
  readonly #db: BaseServices["db"];
  #seq: number;

  constructor({ db }: Pick<BaseServices, "db">) {
    this.#db = db;
    this.#seq = lastEventSeq(db);
  }

  /** Counts what was recorded since the last time. */
  update(): void {
    const last = lastEventSeq(this.#db);
    for (const { type, data } of countedEvents(this.#db, this.#seq, last)) this.#count(type, data);
    this.#seq = last;
  }

  #count(type: CountedEvent, data: Record<string, unknown>): void {
    switch (type) {
      case "run.ended":
        return add(this.runEnds, textOf(data.reason) ?? "ended");
      case "turn.ended":
        this.turns.observe((typeof data.ms === "number" ? data.ms : 0) / 1000);
        return add(this.turnOutcomes, textOf(data.outcome) ?? "failed");
      case "session.proved":
        return add(this.proofs, "proved");
      case "session.mismatch":
        return add(this.proofs, "mismatch");
    }
  }
}

const TURN_ENDS: readonly TurnEnd[] = ["answered", "done", "failed", "returned", "stopped"];

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
