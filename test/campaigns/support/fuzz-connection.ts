import type { Socket } from "node:net";
import { FrameReader } from "../../../src/protocol/frames.ts";
import { check, within } from "../../support/check.ts";

interface Response {
  id: number;
  error?: { code: string };
  result?: unknown;
}

/** The near end of a hostile connection: hears the answers, and that it was closed. */
export class FuzzConnection {
  readonly socket: Socket;
  readonly answers = new Map<number, Response>();
  readonly closed: Promise<unknown>;
  readonly #frames = new FrameReader();
  #wake: () => void = () => undefined;

  constructor(socket: Socket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => socket.once("close", resolve));
    socket.on("error", () => undefined); // closed by the other side while we wrote
    socket.on("data", (chunk: Buffer) => {
      this.#frames.push(chunk);
      for (let frame = this.#frames.next(); frame; frame = this.#frames.next()) this.#take(frame.value as Response);
      this.#wake();
    });
    socket.on("close", () => this.#wake());
  }

  write(bytes: Buffer): void {
    this.socket.write(bytes);
  }

  async answered(count: number): Promise<void> {
    while (this.answers.size < count) {
      check(!this.socket.destroyed, `a connection was closed after ${this.answers.size} of ${count} answers`);
      await within(`answer ${this.answers.size} of ${count}`, new Promise<void>((resolve) => (this.#wake = resolve)));
    }
  }

  #take(response: Response): void {
    if (!("item" in response)) this.answers.set(response.id, response);
  }
}
