import { chmodSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { CONNECTIONS_MAX, DRAIN_MS_MAX, SOCKET_BUFFER_BYTES_MAX } from "../../limits/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { encodeFrame } from "../../protocol/frames.ts";
import type { ServerDeps } from "./call-context.ts";
import { Connection } from "./connection.ts";

/** The daemon's socket and its connections. */
export class DaemonServer {
  readonly #server: Server;
  readonly #connections = new Set<Connection>();
  #onQuiet: () => void = () => undefined;

  readonly #log: (line: string) => void;

  constructor(deps: ServerDeps) {
    this.#log = (line) => deps.services.log(line);
    this.#server = createServer({ highWaterMark: SOCKET_BUFFER_BYTES_MAX }, (socket) => this.#accept(socket, deps));
  }

  get connections(): number {
    return this.#connections.size;
  }

  /** Sets the listener that is called each time the last connection has closed. */
  onQuiet(listener: () => void): void {
    this.#onQuiet = listener;
  }

  /** Listens at the path. The caller has the lock, so a file at the path is a leftover of a daemon that died. */
  async listen(path: string): Promise<void> {
    rmSync(path, { force: true });
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen({ path, backlog: 511 }, resolve);
    });
    this.#server.removeAllListeners("error");
    // For example out of file descriptors: the existing connections and the listener continue.
    this.#server.on("error", (error) => this.#log(`accept: ${error.message}`));
    chmodSync(path, 0o600);
  }

  async drain(): Promise<void> {
    this.#server.close();
    const drained = Promise.all([...this.#connections].map((connection) => connection.drain()));
    await Promise.race([drained, sleep(DRAIN_MS_MAX, undefined, { ref: false })]);
  }

  #accept(socket: Socket, deps: ServerDeps): void {
    if (this.#connections.size >= CONNECTIONS_MAX) {
      const busy = new PerdureError("unavailable", `The daemon's limit of ${CONNECTIONS_MAX} connections is reached.`, {
        hint: "try again in a moment",
      });
      socket.on("error", () => socket.destroy());
      socket.end(encodeFrame({ id: 0, error: busy.toJSON() }));
      return;
    }
    const connection = new Connection(socket, deps);
    this.#connections.add(connection);
    socket.on("close", () => {
      this.#connections.delete(connection);
      if (this.#connections.size === 0) this.#onQuiet();
    });
  }
}
