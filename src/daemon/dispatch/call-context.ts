import type { CallContext } from "../calls/context.ts";
import type { Actor } from "../permissions/actor.ts";
import type { Services } from "../services.ts";

/** The part of a call's context that is the same for all calls of the daemon. */
export type DaemonContext = Pick<CallContext, "services" | "stopDaemon" | "stats">;

/** The transport's end of one call: where the items of a stream go, and how long there is somebody who takes them. */
export interface CallSink {
  /** Aborted when the caller is gone or the daemon drains. */
  readonly closed: AbortSignal;
  /** Sends one item of a stream; resolves when the caller can take more. */
  send(item: unknown): Promise<void>;
  /** Ties the run to the caller: when the caller is gone, the run's process is checked. */
  holdWhileConnected(run: string): void;
  /** Notes that the call lasts as long as its caller does; throws if the caller has too many of them. */
  keepOpen(): void;
}

/** Per-call context; kept small because thousands are live at once. */
export class CallContextImpl implements CallContext {
  readonly #daemon: DaemonContext;
  readonly #sink: CallSink;
  readonly actor: Actor;

  constructor(actor: Actor, daemon: DaemonContext, sink: CallSink) {
    this.actor = actor;
    this.#daemon = daemon;
    this.#sink = sink;
  }

  get services(): Services {
    return this.#daemon.services;
  }

  get closed(): AbortSignal {
    return this.#sink.closed;
  }

  send(item: unknown): Promise<void> {
    return this.#sink.send(item);
  }

  holdWhileConnected(run: string): void {
    this.#sink.holdWhileConnected(run);
  }

  stopDaemon(): void {
    this.#daemon.stopDaemon();
  }

  stats(): ReturnType<CallContext["stats"]> {
    return this.#daemon.stats();
  }
}
