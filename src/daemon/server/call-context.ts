import type { Actor } from "../permissions/actor.ts";
import type { Services } from "../services.ts";
import type { CallContext } from "../calls/context.ts";

/** The part of a call's context that is the same for all calls of the daemon. */
export type ServerDeps = Pick<CallContext, "services" | "stopDaemon" | "stats">;

/** The part of a call's context that the calls of one connection share. */
export interface Transport {
  closed: AbortSignal;
  send(id: number, item: unknown): Promise<void>;
  holdWhileConnected(run: string): void;
}

/** Per-call context; kept small because thousands are live at once. */
export class CallContextImpl implements CallContext {
  readonly #id: number;
  readonly #deps: ServerDeps;
  readonly #transport: Transport;
  readonly actor: Actor;

  constructor(id: number, actor: Actor, deps: ServerDeps, transport: Transport) {
    this.#id = id;
    this.actor = actor;
    this.#deps = deps;
    this.#transport = transport;
  }

  get services(): Services {
    return this.#deps.services;
  }

  get closed(): AbortSignal {
    return this.#transport.closed;
  }

  send(item: unknown): Promise<void> {
    return this.#transport.send(this.#id, item);
  }

  holdWhileConnected(run: string): void {
    this.#transport.holdWhileConnected(run);
  }

  stopDaemon(): void {
    this.#deps.stopDaemon();
  }

  stats(): ReturnType<CallContext["stats"]> {
    return this.#deps.stats();
  }
}
