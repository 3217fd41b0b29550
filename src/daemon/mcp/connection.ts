import type { Socket } from "node:net";
import { CALLS_IN_FLIGHT_MAX, HELLO_WAIT_MS } from "../../limits/index.ts";
import { asPerdureError, PerdureError } from "../../protocol/errors.ts";
import { VERSION } from "../../protocol/version.ts";
import { parseObject, textOf } from "../../util/fields.ts";
import type { DaemonContext } from "../dispatch/call-context.ts";
import { workerActor } from "../permissions/actor.ts";
import { LineReader, type ReadLine } from "./line-reader.ts";
import { LeaveUnanswered, McpSession, type BridgeLine, type BridgePeer } from "./session.ts";

/**
 * Serves one bridge, which says hello with the token of its run and then sends the lines of its agent's program, numbered. Each answer has the number of
 * its line, and a line without an answer is confirmed by its number alone: what is neither, the bridge sends to the next daemon.
 */
export class BridgeConnection {
  readonly #socket: Socket;
  readonly #daemon: DaemonContext;
  readonly #lines = new LineReader();
  readonly #closed = new AbortController();
  /** Lines that arrived while too many were being answered. */
  #waiting: ReadLine[] = [];
  #session: McpSession | null = null;
  #inFlight = 0;
  #draining = false;
  readonly #helloTimer: NodeJS.Timeout;

  constructor(socket: Socket, daemon: DaemonContext) {
    this.#socket = socket;
    this.#daemon = daemon;
    this.#helloTimer = setTimeout(() => socket.destroy(), HELLO_WAIT_MS).unref();
    socket.on("data", (chunk: Buffer) => this.#receive(chunk));
    socket.on("error", (error) => this.#daemon.services.log(`bridge: ${error.message}`));
    socket.on("close", () => {
      clearTimeout(this.#helloTimer);
      this.#closed.abort();
    });
  }

  /** Stops taking lines; resolves when those in progress are answered or left to the next daemon. */
  async drain(): Promise<void> {
    this.#draining = true;
    this.#closed.abort();
    while (this.#inFlight > 0 && !this.#socket.destroyed) await new Promise((resolve) => setTimeout(resolve, 5));
    await new Promise<void>((resolve) => this.#socket.end(resolve));
  }

  #receive(chunk: Buffer): void {
    try {
      this.#waiting.push(...this.#lines.push(chunk));
      this.#next();
    } catch (error) {
      this.#daemon.services.log(`bridge: ${asPerdureError(error).message}`);
      this.#socket.destroy();
    }
  }

  #next(): void {
    while (!this.#draining && this.#inFlight < CALLS_IN_FLIGHT_MAX) {
      const line = this.#waiting.shift();
      if (line === undefined) break;
      if (this.#session === null) this.#session = this.#greet(line.text);
      else this.#start(this.#session, readBridgeLine(line));
    }
    if (this.#inFlight >= CALLS_IN_FLIGHT_MAX) this.#socket.pause();
    else if (this.#socket.isPaused()) this.#socket.resume();
  }

  #greet(line: string): McpSession {
    clearTimeout(this.#helloTimer);
    const hello = parseObject(line);
    if (hello?.mcp !== 1) throw new PerdureError("usage", "The first line must be a hello.");
    const peer: BridgePeer = {
      actor: this.#actorOf(textOf(hello.token)),
      nested: hello.nested !== false,
      bridge: textOf(hello.bridge) ?? "",
    };
    this.#socket.write(`${JSON.stringify({ perdure: VERSION, mcp: 1 })}\n`);
    return new McpSession(this.#daemon, peer);
  }

  /** Returns the worker of a token. A bridge without the token of a run gets no rights at all, least of all the operator's. */
  #actorOf(token: string | null): BridgePeer["actor"] {
    try {
      const actor = workerActor(this.#daemon.services, token ?? "");
      if (actor.kind === "worker") return actor;
      throw new PerdureError("refused", "A bridge acts for a worker.");
    } catch (error) {
      return asPerdureError(error);
    }
  }

  #start(session: McpSession, line: BridgeLine): void {
    this.#inFlight++;
    void this.#answer(session, line).finally(() => {
      this.#inFlight--;
      this.#next();
    });
  }

  async #answer(session: McpSession, line: BridgeLine): Promise<void> {
    try {
      const { text, after } = await session.answer(line, {
        notify: (notification) => void this.#write(0, notification),
        closed: this.#closed.signal,
      });
      const written = this.#write(line.number, text ?? "");
      // What was handed out counts as read once the answer is on its way; a failure only brings it once more.
      if (after.length > 0 && (await written)) for (const act of after) await act();
    } catch (error) {
      if (!(error instanceof LeaveUnanswered)) this.#daemon.services.log(`bridge: ${String(error)}`);
    }
  }

  /** Writes a line; resolves to false if the bridge was gone before. */
  #write(number: number, text: string): Promise<boolean> {
    if (this.#socket.destroyed || !this.#socket.writable) return Promise.resolve(false);
    return new Promise((resolve) => {
      this.#socket.write(`${number} ${text}\n`, (error) => resolve(!error));
    });
  }
}

/** Reads `NUMBER AGE_SECONDS JSON`. */
function readBridgeLine({ text: line, cut }: ReadLine): BridgeLine {
  const [, number, age, text] = /^([0-9]{1,15}) ([0-9]{1,9}) (.*)$/s.exec(line) ?? [];
  if (number === undefined || age === undefined || text === undefined) {
    throw new PerdureError("usage", "A line must begin with its number and its age.");
  }
  return { number: Number(number), ageMs: Number(age) * 1000, text, cut };
}
