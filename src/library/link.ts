import { connectToDaemon, type Client, type ConnectOptions } from "../client/connect.ts";
import { openSocket } from "../client/socket-wire.ts";
import { asPerdureError, PerdureError } from "../protocol/errors.ts";

/** The library's shared connection; reopened after the daemon was restarted. */
export class Link {
  readonly #options: ConnectOptions;
  #client: Promise<Client> | null = null;
  #closed = false;

  constructor(options: ConnectOptions) {
    this.#options = options;
  }

  get closed(): boolean {
    return this.#closed;
  }

  client(): Promise<Client> {
    if (this.#closed)
      return Promise.reject(new PerdureError("unavailable", "This connection was closed.", { hint: "connect again" }));
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

  /** Opens a separate connection, for a stream that is ended by closing it. */
  async open(): Promise<Client> {
    try {
      return await connectToDaemon({ open: openSocket, ...this.#options });
    } catch (error) {
      throw asPerdureError(error);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    const client = await this.#client?.catch(() => null);
    client?.close();
    this.#client = null;
  }
}
