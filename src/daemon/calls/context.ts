import type { Actor } from "../permissions/actor.ts";
import type { Services } from "../services.ts";

/** The context that a handler gets besides its parameters. */
export interface CallContext {
  services: Services;
  actor: Actor;
  /** Sends one item of a stream; resolves when the client can take more. */
  send(item: unknown): Promise<void>;
  /** Aborted when the connection closes or the daemon drains. */
  closed: AbortSignal;
  /** Ties the run to this connection: when the connection closes, the run's process is checked. */
  holdWhileConnected(run: string): void;
  /** Makes the daemon drain and exit after this answer is sent. */
  stopDaemon(): void;
  stats(): DaemonStats;
}

interface DaemonStats {
  connections: number;
  startedAtMs: number;
  storeCheck: "pending" | "ok" | "not-needed";
  /** The workers that the backup with which this daemon was started has taken back to an earlier time; null if none has. */
  ranSinceBackup: string[] | null;
}
