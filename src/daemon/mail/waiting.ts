import type { House } from "../services.ts";

/** The next change under a key, from the moment this is made; or that it was waited for long enough. */
export class Change {
  readonly happened: Promise<"changed" | "too late">;
  readonly stop: () => void;

  /** `deadline` by the monotonic clock. */
  constructor(house: Pick<House, "mail" | "monotonicMs">, key: string, deadline: number, closed: AbortSignal) {
    const { promise, resolve } = Promise.withResolvers<"changed" | "too late">();
    const changed = (): void => resolve("changed");
    const unlisten = house.mail.listen(key, changed);
    closed.addEventListener("abort", changed, { once: true });
    const timer = setTimeout(() => resolve("too late"), Math.max(0, deadline - house.monotonicMs()));
    this.stop = () => {
      unlisten();
      clearTimeout(timer);
      closed.removeEventListener("abort", changed);
    };
    this.happened = promise.finally(this.stop);
  }

  /** Whoever fails to look does not wait, either. */
  stoppedIfThrown<T>(look: () => T): T {
    try {
      return look();
    } catch (error) {
      this.stop();
      throw error;
    }
  }
}
