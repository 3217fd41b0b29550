import { START_TOGETHER_MS } from "../../limits/index.ts";
import { Semaphore } from "../../util/semaphore.ts";

/**
 * Workers that come up together get ready a few at once, and start in one breath: those that started first would else take
 * the processor from those that are still getting ready. One that takes long is not waited for.
 */
export class StartBatch {
  readonly #gate: Semaphore;
  #preparing = 0;
  #waiting: (() => void)[] = [];
  #timer: NodeJS.Timeout | null = null;

  constructor(width: number) {
    this.#gate = new Semaphore(width);
  }

  /** `start` calls `ready`, once, and goes on when that resolves. */
  async start<T>(start: (ready: () => Promise<void>) => Promise<T>): Promise<T> {
    this.#preparing++;
    const leave = await this.#gate.acquire();
    let left = false;
    const gotReady = (): void => {
      if (left) return;
      left = true;
      leave();
      this.#preparing--;
      if (this.#preparing === 0) this.#releaseAll();
    };
    try {
      return await start(async () => {
        const word = new Promise<void>((resolve) => this.#waiting.push(resolve));
        this.#timer ??= setTimeout(() => this.#releaseAll(), START_TOGETHER_MS);
        gotReady();
        await word;
      });
    } finally {
      gotReady();
    }
  }

  #releaseAll(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    for (const go of this.#waiting.splice(0)) go();
  }
}
