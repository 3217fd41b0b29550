import { connect, type Socket } from "node:net";
import { saysNobodyListens, type Wire } from "./wire.ts";

/** Opens a connection by Node's own sockets. */
export async function openSocket(path: string): Promise<Wire | null> {
  const socket = connect(path);
  const isOpen = await new Promise<boolean>((resolve, reject) => {
    socket.once("connect", () => resolve(true));
    socket.once("error", (error: NodeJS.ErrnoException) => {
      if (saysNobodyListens(error.code)) resolve(false);
      else reject(error);
    });
  });
  return isOpen ? new SocketWire(socket) : null;
}

class SocketWire implements Wire {
  readonly #socket: Socket;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("error", () => undefined); // "close" follows
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  listen(onData: (chunk: Buffer) => void, onClose: () => void): void {
    this.#socket.on("data", onData);
    this.#socket.once("close", onClose);
  }

  write(bytes: Buffer): void {
    if (this.#socket.writable) this.#socket.write(bytes);
  }

  ref(): void {
    this.#socket.ref();
  }

  unref(): void {
    this.#socket.unref();
  }

  close(): void {
    this.#socket.destroy();
  }
}
