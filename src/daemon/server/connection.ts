import type { Socket } from "node:net";
import { CALLS_IN_FLIGHT_MAX, HELLO_WAIT_MS, LEASES_PER_CONNECTION_MAX } from "../../limits/index.ts";
import { calls, hello } from "../../protocol/calls/index.ts";
import { asPerdureError, PerdureError } from "../../protocol/errors.ts";
import { FrameGatherer, FrameReader, type ResponseFrame, type Welcome } from "../../protocol/frames.ts";
import { PROTOCOL_VERSION, VERSION } from "../../protocol/version.ts";
import { failureError, failureKind } from "../../store/failure.ts";
import type { CallTable } from "../../protocol/calls/entry.ts";
import { authorise, workerActor, type Actor } from "../permissions/actor.ts";
import { handlers } from "../calls/index.ts";
import type { CallContext } from "../calls/context.ts";
import { CallContextImpl, type ServerDeps, type Transport } from "./call-context.ts";
import { parseCall } from "./parse-call.ts";

/**
 * One client: a hello, then calls, several at a time. The socket of a client with too many calls is paused, not closed.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #deps: ServerDeps;
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
  readonly #transport: Transport = {
    closed: this.#closed.signal,
    send: (id, item) => this.#sendItem(id, item),
    holdWhileConnected: (run) => this.#hold(run),
  };
  readonly #helloTimer: NodeJS.Timeout;

  constructor(socket: Socket, deps: ServerDeps) {
    this.#socket = socket;
    this.#deps = deps;
    this.#helloTimer = setTimeout(() => socket.destroy(), HELLO_WAIT_MS).unref();
    socket.on("data", (chunk: Buffer) => {
      this.#frames.push(chunk);
      this.#handleFrames();
    });
    socket.on("drain", () => this.#handleFrames());
    socket.on("error", (error) => this.#deps.services.log(`connection: ${error.message}`));
    socket.on("close", () => this.#onClose());
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
    this.#actor = token === null ? { kind: "operator" } : workerActor(this.#deps.services, token);
    const welcome: Welcome = { protocol: PROTOCOL_VERSION, version: VERSION, pid: process.pid };
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
      this.#write({ id, result: await this.#call(actor, id, call, params) });
    } catch (thrown) {
      const kind = failureKind(thrown);
      if (kind !== null) this.#deps.services.onStoreFailure(kind, thrown);
      const error = kind === null ? asPerdureError(thrown) : failureError(kind, thrown);
      if (error.code === "internal")
        this.#deps.services.log(`${String(call)}: ${(thrown as Error).stack ?? String(thrown)}`);
      this.#write({ id, error: error.toJSON() });
    }
    if (!this.#openCalls.delete(id)) this.#inFlight--;
    this.#scheduleFlush();
  }

  /** Takes a call that lasts as long as its client out of those in flight: sixty-four leases would else block all others. */
  #keepOpen(id: number): void {
    if (this.#openCalls.size >= LEASES_PER_CONNECTION_MAX) {
      throw new PerdureError("unavailable", `Limit of ${LEASES_PER_CONNECTION_MAX} leases on one connection reached.`, {
        hint: "connect once more for further leases",
      });
    }
    this.#openCalls.add(id);
    this.#inFlight--;
  }

  #call(actor: Actor, id: number, word: unknown, sent: unknown): Promise<unknown> {
    const { name, params } = parseCall(word, sent);
    authorise(this.#deps.services, actor, name);
    if ((calls as CallTable)[name]?.staysOpen) this.#keepOpen(id);
    // The parameters were parsed for the handler of the same name; TypeScript cannot follow the pair through the index.
    const handler = handlers[name] as (params: unknown, context: CallContext) => Promise<unknown>;
    return handler(params, new CallContextImpl(id, actor, this.#deps, this.#transport));
  }

  async #sendItem(id: number, item: unknown): Promise<void> {
    if (this.#write({ id, item }) || this.#closed.signal.aborted) return;
    await new Promise<void>((resolve) => this.#blockedStreams.push(resolve));
  }

  #hold(run: string): void {
    this.#heldRuns.add(run);
    if (!this.#closed.signal.aborted) this.#deps.services.runs.clientConnected(run, this);
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
    for (const run of this.#heldRuns) this.#deps.services.runs.clientDisconnected(run, this);
  }
}

function versionMismatch(clientProtocol: number, clientVersion: string): PerdureError {
  const isClientOlder = clientProtocol < PROTOCOL_VERSION;
  return new PerdureError(
    "version",
    `The daemon (perdure ${VERSION}, protocol ${PROTOCOL_VERSION}) cannot talk to perdure ${clientVersion} (protocol ${clientProtocol}).`,
    { hint: isClientOlder ? "upgrade this perdure" : "restart the daemon: perdure daemon stop (workers live on)" },
  );
}
