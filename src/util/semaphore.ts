/** Runs one task at a time for each key. */
export class KeyedMutex {
  readonly #semaphores = new Map<string, Semaphore>();

  run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const semaphore = this.#semaphores.get(key) ?? new Semaphore(1);
    this.#semaphores.set(key, semaphore);
    return semaphore.run(task);
  }
}

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
