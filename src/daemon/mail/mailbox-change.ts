import type { BaseServices } from "../base-services.ts";

interface WaitServices extends Pick<BaseServices, "monotonicMs"> {
  readonly mail: { listen(key: string, listener: () => void): () => void };
}

/** Waits, from its construction on, for the next change under a key, until a deadline. */
export class MailboxChange {
  readonly outcome: Promise<"changed" | "timed-out">;
  readonly stop: () => void;

  /** `deadline` is a time of the monotonic clock. */
  constructor(services: WaitServices, key: string, deadline: number, closed: AbortSignal) {
    const { promise, resolve } = Promise.withResolvers<"changed" | "timed-out">();
    const changed = (): void => resolve("changed");
    const unlisten = services.mail.listen(key, changed);
    closed.addEventListener("abort", changed, { once: true });
    const timer = setTimeout(() => resolve("timed-out"), Math.max(0, deadline - services.monotonicMs()));
    this.stop = () => {
      unlisten();
      clearTimeout(timer);
      closed.removeEventListener("abort", changed);
    };
    this.outcome = promise.finally(this.stop);
  }

  /** Runs the check, and stops waiting if it throws. */
  stopIfThrows<T>(check: () => T): T {
    try {
      return check();
    } catch (error) {
      this.stop();
      throw error;
    }
  }
}

/** Returns the key of changes to a mailbox; `to` is null for the operator. */
export function mailboxKey(projectId: number, to: number | null): string {
  return `mailbox ${projectId} ${to ?? 0}`;
}

/** The key of new mail to the operator, in any project. */
export const OPERATOR_MAIL_KEY = "operator mail";

/** The key of changes to which worker's mail is held back, or is no longer. */
export const HELD_MAIL_KEY = "held mail";

/** Returns the key of changes to what a worker's person sees of it, besides new mail: its address, and how much mail is left. */
export function statusLineKey(workerId: number): string {
  return `status line ${workerId}`;
}

/** Returns the key of changes to an ask: another state, or an answer. */
export function askKey(id: string): string {
  return `ask ${id}`;
}
