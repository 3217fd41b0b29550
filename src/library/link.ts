import { closedHere, connectToDaemon, type Client, type ConnectOptions } from "../client/connect.ts";
import { openSocket } from "../client/socket-wire.ts";
import { asPerdureError } from "../protocol/errors.ts";

/** The library's shared connection; reopened after the daemon was restarted. */
export class Link {
  readonly #options: ConnectOptions;
  readonly #closing = new AbortController();
  /** Every connection that is open. */
  readonly #open = new Set<Client>();
  #client: Promise<Client> | null = null;

  constructor(options: ConnectOptions) {
    this.#options = options;
  }

  get closed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Aborted when the program closes its connection. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  client(): Promise<Client> {
    if (this.#client === null) {
      const opening = this.open();
      this.#client = opening;
      const forget = (): void => {
        if (this.#client === opening) this.#client = null;
      };
      opening.then((client) => client.onClose(forget), forget);
    }
    return this.#client;
  }

  /** Opens a separate connection, for a stream that is ended by closing it; throws once the program has closed its own. */
  async open(): Promise<Client> {
    this.requireOpen();
    try {
      const client = await connectToDaemon({ open: openSocket, ...this.#options });
      this.#open.add(client);
      client.onClose(() => this.#open.delete(client));
      if (this.closed) client.close();
      return client;
    } catch (error) {
      throw asPerdureError(error);
    }
  }

  /** Throws once the program has closed its connection. */
  requireOpen(): void {
    if (this.closed) throw closedHere();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#client?.catch(() => null);
    for (const client of this.#open) client.close();
    this.#client = null;
  }
}
