/** Lets a number of tasks run at once; the others wait, in order. */
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

  /** Waits for a permit and resolves to the function that returns it, which is called once. */
  async acquire(): Promise<() => void> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return () => {
      const next = this.#waiting.shift();
      // The permit goes straight to the next waiter, so nobody can take it in between.
      if (next) next();
      else this.#free++;
    };
  }
}

/** Lets one act at a time for each key, in order. Nothing is kept of a key that nobody uses. */
export class KeyedMutex<Key = string> {
  /** The turn of the last one in each line. */
  readonly #last = new Map<Key, Promise<void>>();

  async run<T>(key: Key, act: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const turn = Promise.withResolvers<void>();
    this.#last.set(key, turn.promise);
    try {
      await before; // also without one: nobody acts in the middle of what the caller is doing
      return await act();
    } finally {
      if (this.#last.get(key) === turn.promise) this.#last.delete(key);
      turn.resolve();
    }
  }

  isBusy(key: Key): boolean {
    return this.#last.has(key);
  }
}
