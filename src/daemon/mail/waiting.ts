import type { BaseServices } from "../base-services.ts";

interface WaitServices extends Pick<BaseServices, "monotonicMs"> {
  readonly mail: { listen(key: string, listener: () => void): () => void };
}

/** The next change under a key, from the moment this is made; or that it was waited for long enough. */
export class MailboxChange {
  readonly outcome: Promise<"changed" | "too late">;
  readonly stop: () => void;

  /** `deadline` by the monotonic clock. */
  constructor(services: WaitServices, key: string, deadline: number, closed: AbortSignal) {
    const { promise, resolve } = Promise.withResolvers<"changed" | "too late">();
    const changed = (): void => resolve("changed");
    const unlisten = services.mail.listen(key, changed);
    closed.addEventListener("abort", changed, { once: true });
    const timer = setTimeout(() => resolve("too late"), Math.max(0, deadline - services.monotonicMs()));
    this.stop = () => {
      unlisten();
      clearTimeout(timer);
      closed.removeEventListener("abort", changed);
    };
    this.outcome = promise.finally(this.stop);
  }

  /** Whoever fails to look does not wait, either. */
  stopIfThrows<T>(look: () => T): T {
    try {
      return look();
    } catch (error) {
      this.stop();
      throw error;
    }
  }
}

/** The key under which a change of a box is announced; `to` is null for the operator. */
export function mailboxKey(projectId: number, to: number | null): string {
  return `box ${projectId} ${to ?? 0}`;
}

/** The key under which it is announced that something became of a message, or that it was answered. */
export function askKey(id: string): string {
  return `ask ${id}`;
}
