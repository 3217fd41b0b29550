import { chmodSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { CONNECTIONS_MAX, DRAIN_MS_MAX, SOCKET_BUFFER_BYTES_MAX } from "../../limits/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { encodeFrame } from "../../protocol/frames.ts";
import { fileIdentity } from "../../state/files.ts";
import type { DaemonContext } from "../dispatch/call-context.ts";
import { acceptConnection, type ServerConnection } from "./accept.ts";

/** The daemon's socket and its connections. */
export class DaemonServer {
  readonly #daemon: DaemonContext;
  #server: Server;
  /** The file that this server listens at, and which file that was when it began to. */
  #listening: { path: string; identity: string | null } | null = null;
  readonly #connections = new Set<ServerConnection>();
  #onQuiet: () => void = () => undefined;

  readonly #log: (line: string) => void;

  constructor(daemon: DaemonContext) {
    this.#daemon = daemon;
    this.#log = (line) => daemon.services.log(line);
    this.#server = this.#newServer();
  }

  #newServer(): Server {
    return createServer({ highWaterMark: SOCKET_BUFFER_BYTES_MAX }, (socket) => this.#accept(socket, this.#daemon));
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
    this.#listening = { path, identity: fileIdentity(path) };
  }

  /** Tells whether the file at the path is the socket that this server listens at. */
  isInPlace(): boolean {
    const { path, identity } = this.#listening ?? { path: "", identity: null };
    return identity !== null && fileIdentity(path) === identity;
  }

  /** Listens at the path once more, because the socket's file was removed; the connections that there are go on. */
  async listenAnew(path: string): Promise<void> {
    this.#server.close();
    this.#server = this.#newServer();
    await this.listen(path);
  }

  /** Takes no more clients. Closing removes whatever is at the path, so it is left open if that is another daemon's socket by now. */
  stopListening(): void {
    if (this.isInPlace()) this.#server.close();
  }

  async drain(): Promise<void> {
    const drained = Promise.all([...this.#connections].map((connection) => connection.drain()));
    await Promise.race([drained, sleep(DRAIN_MS_MAX, undefined, { ref: false })]);
  }

  #accept(socket: Socket, daemon: DaemonContext): void {
    if (this.#connections.size >= CONNECTIONS_MAX) {
      const busy = new PerdureError("unavailable", `The daemon's limit of ${CONNECTIONS_MAX} connections is reached.`, {
        hint: "try again in a moment",
      });
      socket.on("error", () => socket.destroy());
      socket.end(encodeFrame({ id: 0, error: busy.toJSON() }));
      return;
    }
    const connection = acceptConnection(socket, daemon);
    this.#connections.add(connection);
    socket.on("close", () => {
      this.#connections.delete(connection);
      if (this.#connections.size === 0) this.#onQuiet();
    });
  }
}
