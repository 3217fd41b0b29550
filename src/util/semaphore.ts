/** One at a time for each key. */
export class Turns {
  readonly #gates = new Map<string, Gate>();

  take<T>(key: string, act: () => Promise<T>): Promise<T> {
    const gate = this.#gates.get(key) ?? new Gate(1);
    this.#gates.set(key, gate);
    return gate.pass(act);
  }
}

/** So many at once; the others wait for their turn, in order. */
export class Gate {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(width: number) {
    this.#free = width;
  }

  async pass<T>(act: () => Promise<T>): Promise<T> {
    const leave = await this.enter();
    try {
      return await act();
    } finally {
      leave();
    }
  }

  /** Resolves to how to leave again, once. */
  async enter(): Promise<() => void> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return () => {
      const next = this.#waiting.shift();
      // Whoever waits takes this place; it never becomes free in between.
      if (next) next();
      else this.#free++;
    };
  }
}
