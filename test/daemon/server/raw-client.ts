import { connect, type Socket } from "node:net";
import { once } from "node:events";
import type { ErrorBody } from "../../../src/protocol/errors.ts";
import { encodeFrame, FrameReader } from "../../../src/protocol/frames.ts";
import { PROTOCOL_VERSION } from "../../../src/protocol/version.ts";

interface Response {
  id: number;
  result?: unknown;
  error?: ErrorBody;
}

/** Bytes to and from the daemon's socket, right or wrong. */
export class RawClient {
  readonly socket: Socket;
  readonly #frames = new FrameReader();
  readonly #received: Response[] = [];
  #closed = false;
  #wake: () => void = () => undefined;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (chunk: Buffer) => {
      this.#frames.push(chunk);
      for (let frame = this.#frames.next(); frame; frame = this.#frames.next())
        this.#received.push(frame.value as Response);
      this.#wake();
    });
    socket.on("error", () => undefined);
    socket.on("close", () => {
      this.#closed = true;
      this.#wake();
    });
  }

  static async open(path: string): Promise<RawClient> {
    const socket = connect(path);
    await once(socket, "connect");
    return new RawClient(socket);
  }

  /** Connects and says hello. */
  static async greeted(path: string): Promise<RawClient> {
    const client = await RawClient.open(path);
    client.send({ protocol: PROTOCOL_VERSION, version: "test", token: null });
    await client.next();
    return client;
  }

  send(value: unknown): void {
    this.socket.write(encodeFrame(value));
  }

  /** The next frame; null when the daemon closed the connection instead. */
  async next(): Promise<Response | null> {
    while (this.#received.length === 0) {
      if (this.#closed) return null;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    return this.#received.shift() ?? null;
  }

  /** Answers, without the items that streams send before them. */
  async take(count: number): Promise<Response[]> {
    const taken: Response[] = [];
    while (taken.length < count) {
      const response = await this.next();
      if (response === null) throw new Error(`closed after ${taken.length} of ${count} answers`);
      if (!("item" in response)) taken.push(response);
    }
    return taken;
  }

  close(): void {
    this.socket.destroy();
  }
}
