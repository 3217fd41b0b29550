/** One at a time for each key. */
export class KeyedMutex {
  readonly #gates = new Map<string, Semaphore>();

  run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const gate = this.#gates.get(key) ?? new Semaphore(1);
    this.#gates.set(key, gate);
    return gate.run(task);
  }
}

/** So many at once; the others wait for their turn, in order. */
export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(permits: number) {
    this.#free = permits;
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    const release = await this.acquire();
    try {
      return await task();
    } finally {
      release();
    }
  }

  /** Resolves to how to leave again, once. */
  async acquire(): Promise<() => void> {
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
