import { START_BATCH_WAIT_MS } from "../../limits/index.ts";
import { Semaphore } from "../../util/semaphore.ts";

/**
 * Prepares the starts of workers a few at a time, then starts them together: agents that start first would take the processor
 * from starts that are still being prepared. A start that takes long is not waited for.
 */
export class StartBatch {
  readonly #permits: Semaphore;
  #preparing = 0;
  #waiting: (() => void)[] = [];
  #timer: NodeJS.Timeout | null = null;

  constructor(permits: number) {
    this.#permits = new Semaphore(permits);
  }

  /** Runs `start`, which calls `ready` once it is prepared and continues when `ready` resolves. */
  async start<T>(start: (ready: () => Promise<void>) => Promise<T>): Promise<T> {
    this.#preparing++;
    const release = await this.#permits.acquire();
    let isPrepared = false;
    const prepared = (): void => {
      if (isPrepared) return;
      isPrepared = true;
      release();
      this.#preparing--;
      if (this.#preparing === 0) this.#releaseAll();
    };
    try {
      return await start(async () => {
        const go = new Promise<void>((resolve) => this.#waiting.push(resolve));
        this.#timer ??= setTimeout(() => this.#releaseAll(), START_BATCH_WAIT_MS);
        prepared();
        await go;
      });
    } finally {
      prepared();
    }
  }

  #releaseAll(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    for (const go of this.#waiting.splice(0)) go();
  }
}
