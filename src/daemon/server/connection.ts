import type { Socket } from "node:net";
import { CALLS_IN_FLIGHT_MAX, HELLO_WAIT_MS, LEASES_PER_CONNECTION_MAX } from "../../limits/index.ts";
import { hello } from "../../protocol/calls/index.ts";
import { asPerdureError, PerdureError } from "../../protocol/errors.ts";
import { hintOf, verb } from "../../protocol/hint.ts";
import { FrameGatherer, FrameReader, type ResponseFrame, type Welcome } from "../../protocol/frames.ts";
import { PROTOCOL_VERSION, VERSION } from "../../protocol/version.ts";
import type { CallSink, DaemonContext } from "../dispatch/call-context.ts";
import { dispatch } from "../dispatch/dispatch.ts";
import { workerActor, type Actor } from "../permissions/actor.ts";

/**
 * One client: a hello, then calls, several at a time. The socket of a client with too many calls is paused, not closed.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #daemon: DaemonContext;
  readonly #frames = new FrameReader();
  readonly #outgoing = new FrameGatherer();
  readonly #closed = new AbortController();
  readonly #heldRuns = new Set<string>();
  #actor: Actor | null = null;
  #inFlight = 0;
  /** The calls that last as long as the client does, by id; they are not in flight. */
  readonly #openCalls = new Set<number>();
  #draining = false;
  /** Streams that wait until the client has read what was sent. */
  readonly #blockedStreams: (() => void)[] = [];
  #isFlushScheduled = false;
  readonly #helloTimer: NodeJS.Timeout;

  constructor(socket: Socket, daemon: DaemonContext) {
    this.#socket = socket;
    this.#daemon = daemon;
    this.#helloTimer = setTimeout(() => socket.destroy(), HELLO_WAIT_MS).unref();
    socket.on("data", (chunk: Buffer) => {
      this.#frames.push(chunk);
      this.#handleFrames();
    });
    socket.on("drain", () => this.#handleFrames());
    socket.on("error", (error) => this.#daemon.services.log(`connection: ${error.message}`));
    socket.on("close", () => this.#onClose());
  }

  /** Aborted when the client is gone or the daemon drains. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /** Stops taking calls; resolves when the calls in progress are answered. */
  async drain(): Promise<void> {
    this.#draining = true;
    this.#closed.abort();
    for (const resume of this.#blockedStreams.splice(0)) resume();
    while (this.#inFlight + this.#openCalls.size > 0 && !this.#socket.destroyed) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    this.#flush();
    // Resolves once the answers have been sent, not only queued.
    await new Promise<void>((resolve) => this.#socket.end(resolve));
  }

  #handleFrames(): void {
    if (!this.#isBacklogged()) for (const resume of this.#blockedStreams.splice(0)) resume();
    try {
      while (!this.#draining && !this.#isFull()) {
        const frame = this.#frames.next();
        if (frame === undefined) break;
        if (this.#actor === null) this.#handleHello(frame.value);
        else this.#start(this.#actor, frame.value);
      }
    } catch (error) {
      return this.#refuse(error);
    }
    if (this.#isFull()) this.#socket.pause();
    else if (this.#socket.isPaused()) this.#socket.resume();
  }

  #isFull(): boolean {
    return this.#inFlight >= CALLS_IN_FLIGHT_MAX || this.#isBacklogged();
  }

  #handleHello(value: unknown): void {
    clearTimeout(this.#helloTimer);
    const parsed = hello.safeParse(value);
    if (!parsed.success) throw new PerdureError("usage", "The first frame must be a hello.");
    if (parsed.data.protocol !== PROTOCOL_VERSION) throw versionMismatch(parsed.data.protocol, parsed.data.version);
    const { token } = parsed.data;
    // The socket lies in a folder that only the operator can enter, so a caller without a token is the operator.
    this.#actor = token === null ? { kind: "operator" } : workerActor(this.#daemon.services, token);
    const namespace = this.#daemon.services.processes.namespace();
    const welcome: Welcome = { protocol: PROTOCOL_VERSION, version: VERSION, pid: process.pid, namespace };
    this.#write({ id: 0, result: welcome });
  }

  #start(actor: Actor, value: unknown): void {
    const request = value as { id?: unknown; call?: unknown; params?: unknown } | null;
    const id = request?.id;
    if (typeof id !== "number" || !Number.isSafeInteger(id) || id < 1) {
      throw new PerdureError("usage", "A call needs an id that is a positive whole number.");
    }
    this.#inFlight++;
    void this.#answer(actor, id, request?.call, request?.params);
  }

  async #answer(actor: Actor, id: number, call: unknown, params: unknown): Promise<void> {
    try {
      this.#write({ id, result: await dispatch(this.#daemon, actor, call, params, new FrameSink(id, this)) });
    } catch (error) {
      this.#write({ id, error: asPerdureError(error).toJSON() });
    }
    if (!this.#openCalls.delete(id)) this.#inFlight--;
    this.#scheduleFlush();
  }

  /** Takes a call that lasts as long as its client out of those in flight: sixty-four leases would else block all others. */
  keepOpen(id: number): void {
    if (this.#openCalls.size >= LEASES_PER_CONNECTION_MAX) {
      throw new PerdureError("unavailable", `Limit of ${LEASES_PER_CONNECTION_MAX} leases on one connection reached.`, {
        hint: "open another connection for more leases",
      });
    }
    this.#openCalls.add(id);
    this.#inFlight--;
  }

  async sendItem(id: number, item: unknown): Promise<void> {
    if (this.#write({ id, item }) || this.#closed.signal.aborted) return;
    await new Promise<void>((resolve) => this.#blockedStreams.push(resolve));
  }

  holdWhileConnected(run: string): void {
    this.#heldRuns.add(run);
    if (!this.#closed.signal.aborted) this.#daemon.services.runs.clientConnected(run, this);
  }

  /** Returns false when the client should be given time to read. */
  #write(frame: ResponseFrame): boolean {
    if (this.#socket.destroyed || !this.#socket.writable) return true;
    this.#scheduleFlush();
    try {
      this.#outgoing.add(frame);
    } catch (error) {
      this.#outgoing.add({ id: frame.id, error: asPerdureError(error).toJSON() });
    }
    return !this.#isBacklogged();
  }

  /** Schedules one write for all answers of this tick, because one commit answers many calls; more is read after it. */
  #scheduleFlush(): void {
    if (this.#isFlushScheduled) return;
    this.#isFlushScheduled = true;
    process.nextTick(() => {
      this.#isFlushScheduled = false;
      this.#flush();
      this.#handleFrames();
    });
  }

  #flush(): void {
    if (this.#outgoing.bytes === 0 || !this.#socket.writable) return;
    this.#socket.write(this.#outgoing.take());
  }

  #isBacklogged(): boolean {
    const { writableNeedDrain, writableLength, writableHighWaterMark } = this.#socket;
    return writableNeedDrain || this.#outgoing.bytes + writableLength >= writableHighWaterMark;
  }

  /** Answers broken framing or a refused hello once, then closes, because nothing after it could be parsed. */
  #refuse(error: unknown): void {
    this.#write({ id: 0, error: asPerdureError(error).toJSON() });
    this.#flush();
    this.#draining = true;
    this.#socket.end();
    this.#socket.removeAllListeners("data").resume();
  }

  #onClose(): void {
    clearTimeout(this.#helloTimer);
    this.#closed.abort();
    // The client that the streams waited for is gone.
    for (const resume of this.#blockedStreams.splice(0)) resume();
    for (const run of this.#heldRuns) this.#daemon.services.runs.clientDisconnected(run, this);
  }
}

function versionMismatch(clientProtocol: number, clientVersion: string): PerdureError {
  const isClientOlder = clientProtocol < PROTOCOL_VERSION;
  return new PerdureError(
    "version",
    `The daemon (perdure ${VERSION}, protocol ${PROTOCOL_VERSION}) cannot talk to perdure ${clientVersion} (protocol ${clientProtocol}).`,
    {
      hint: isClientOlder
        ? "upgrade this perdure"
        : hintOf`restart the daemon: ${verb("daemon", "stop")} (workers keep running)`,
    },
  );
}

/** The socket's end of one call: what the call sends goes out in frames with its id. */
class FrameSink implements CallSink {
  readonly #id: number;
  readonly #connection: Connection;

  constructor(id: number, connection: Connection) {
    this.#id = id;
    this.#connection = connection;
  }

  get closed(): AbortSignal {
    return this.#connection.closed;
  }

  send(item: unknown): Promise<void> {
    return this.#connection.sendItem(this.#id, item);
  }

  holdWhileConnected(run: string): void {
    this.#connection.holdWhileConnected(run);
  }

  keepOpen(): void {
    this.#connection.keepOpen(this.#id);
  }
}
