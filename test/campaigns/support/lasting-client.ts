import { connectToDaemon, type Client } from "../../../src/client/connect.ts";
import type { Home } from "../../support/home.ts";
import { isUnavailable } from "../../support/send-params.ts";

/** The longest time in which one daemon or the next has to answer, on a busy machine. */
const ANSWERED_MS_MAX = 60_000;

/** One connection for many calls. When the daemon is killed, the call is made again to the next one: only for calls that may be repeated. */
export class LastingClient {
  readonly #home: Home;
  #client: Client | null = null;

  constructor(home: Home) {
    this.#home = home;
  }

  async ask<T>(call: (client: Client) => Promise<T>): Promise<T> {
    const deadline = performance.now() + ANSWERED_MS_MAX;
    for (;;) {
      try {
        this.#client ??= await connectToDaemon({ env: this.#home.env });
        return await call(this.#client);
      } catch (error) {
        if (!isUnavailable(error) || performance.now() > deadline) throw error;
        this.close();
      }
    }
  }

  close(): void {
    this.#client?.close();
    this.#client = null;
  }
}
