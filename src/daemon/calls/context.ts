import type { Actor } from "../permissions/actor.ts";
import type { Services } from "../services.ts";

/** What a handler gets besides its parameters. */
export interface CallContext {
  services: Services;
  actor: Actor;
  /** One item of a stream; resolves when the other side can take more. */
  send(item: unknown): Promise<void>;
  /** Aborted when the connection closes or the daemon drains. */
  closed: AbortSignal;
  /** The run belongs to this connection's process: when the connection goes, its process is looked at. */
  holdWhileConnected(run: string): void;
  /** Asks the daemon to drain and leave, after this answer is out. */
  stopDaemon(): void;
  stats(): { connections: number; startedAtMs: number; storeCheck: "pending" | "ok" | "not-needed" };
}
