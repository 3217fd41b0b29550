/** Counts durations by how long they were, in seconds; the bounds are inclusive, as those of Prometheus are. */
export class Histogram {
  readonly bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;
  #count = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.#counts = bounds.map(() => 0);
  }

  observe(seconds: number): void {
    const at = this.bounds.findIndex((bound) => seconds <= bound);
    if (at !== -1) this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#sum += seconds;
    this.#count++;
  }

  get sum(): number {
    return this.#sum;
  }

  get count(): number {
    return this.#count;
  }

  /** Returns, for each bound, how many were at most that long. */
  cumulative(): number[] {
    let total = 0;
    return this.#counts.map((count) => (total += count));
  }
}
