import type { Actor } from "../permissions/actor.ts";
import type { Services } from "../services.ts";
import type { CallContext } from "../calls/context.ts";

/** What the calls of one connection have in common. */
export interface Side {
  closed: AbortSignal;
  send(id: number, item: unknown): Promise<void>;
  hold(run: string): void;
}

type Around = Pick<CallContext, "services" | "stopDaemon" | "stats">;

/** Of one call: there are thousands at once, so it is one small object. */
export class Scope implements CallContext {
  readonly #id: number;
  readonly #around: Around;
  readonly #side: Side;
  readonly actor: Actor;

  constructor(id: number, actor: Actor, around: Around, side: Side) {
    this.#id = id;
    this.actor = actor;
    this.#around = around;
    this.#side = side;
  }

  get services(): Services {
    return this.#around.services;
  }

  get closed(): AbortSignal {
    return this.#side.closed;
  }

  send(item: unknown): Promise<void> {
    return this.#side.send(this.#id, item);
  }

  holdWhileConnected(run: string): void {
    this.#side.hold(run);
  }

  stopDaemon(): void {
    this.#around.stopDaemon();
  }

  stats(): ReturnType<CallContext["stats"]> {
    return this.#around.stats();
  }
}
