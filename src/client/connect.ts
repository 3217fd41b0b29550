import { dirname } from "node:path";
import type { Environment } from "../util/environment.ts";
import { ANSWER_WAIT_MS, CONNECT_TRIES } from "../limits/index.ts";
import type { CallName, CallParams, CallResults, StreamItems } from "../protocol/calls/index.ts";
import { wireNameOf } from "../protocol/calls/wire-names.ts";
import { errorFromBody, isPerdureError, PerdureError } from "../protocol/errors.ts";
import { hintOf, verb } from "../protocol/hint.ts";
import {
  encodeFrame,
  FrameGatherer,
  FrameReader,
  type RequestFrame,
  type ResponseFrame,
  type Welcome,
} from "../protocol/frames.ts";
import { isTable } from "../util/fields.ts";
import { PROTOCOL_VERSION, VERSION } from "../protocol/version.ts";
import { statePaths } from "../state/paths.ts";
import { checkSafeFolderIfThere } from "../state/safe-folder.ts";
import { openPipe } from "./pipe-wire.ts";
import { tokenFor } from "./token.ts";
import type { OpenWire, Wire } from "./wire.ts";

export interface ConnectOptions {
  env?: Environment;
  autostart?: boolean;
  /** How the connection is made; left out by short commands, which need none of what Node's sockets bring along. */
  open?: OpenWire;
}

/** Connects to the daemon of this state folder; starts one if there is none. */
export async function connectToDaemon(options: ConnectOptions = {}): Promise<Client> {
  const env = options.env ?? process.env;
  const paths = statePaths(env);
  for (let attempt = 1; ; attempt++) {
    for (const folder of new Set([paths.dir, dirname(paths.socket)])) checkSafeFolderIfThere(folder);
    const client = await tryConnect(options.open ?? openPipe, paths.socket, tokenFor(env, paths.socket));
    if (client) return client;
    if (options.autostart === false) throw notRunning();
    if (attempt === CONNECT_TRIES) throw keptExiting();
    const { startDaemon } = await import("./autostart.ts"); // needs child_process, which takes 2 ms to load
    await startDaemon(paths, env);
  }
}

function notRunning(): PerdureError {
  return new PerdureError("unavailable", "No daemon is running.", { hint: verb("daemon", "start") });
}

function keptExiting(): PerdureError {
  const message = `The daemon hung up ${CONNECT_TRIES} times before it greeted: it exits, or has no file descriptors left for more clients.`;
  return new PerdureError("unavailable", message, { hint: verb("doctor") });
}

/** Resolves to null when nobody listens, or when the daemon exited before its greeting: no call was made yet. */
async function tryConnect(open: OpenWire, path: string, token: string | null): Promise<Client | null> {
  const wire = await open(path);
  if (wire === null) return null;
  const client = new Client(wire);
  return (await client.greet(token)) ? client : null;
}

export interface Collected<N extends keyof StreamItems> {
  items: StreamItems[N][];
  result: CallResults[N];
}

interface Pending {
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
  onItem: ((item: unknown) => void) | null;
  timer: NodeJS.Timeout | null;
}

export class Client {
  readonly #wire: Wire;
  readonly #frames = new FrameReader();
  readonly #outgoing = new FrameGatherer();
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;
  #greeted = false;
  #isClosedHere = false;
  /** Why the connection was given up, if it was. */
  #notUnderstood: PerdureError | null = null;
  readonly #closeListeners: (() => void)[] = [];
  /** The daemon's pid namespace, in which its pids count; null for an older daemon, which does not say. */
  daemonNamespace: string | null = null;

  /** Tells whether the daemon is of the version before pid namespaces: it refuses every field that it does not know. */
  get isOlder(): boolean {
    return this.daemonNamespace === null;
  }

  constructor(wire: Wire) {
    this.#wire = wire;
    wire.listen(
      (chunk) => this.#onData(chunk),
      () => this.#onClose(),
    );
  }

  /** Resolves to false if the daemon exited without an answer. */
  async greet(token: string | null): Promise<boolean> {
    const welcome = this.#expect(0, null, ANSWER_WAIT_MS);
    this.#wire.write(encodeFrame({ protocol: PROTOCOL_VERSION, version: VERSION, token }));
    try {
      this.daemonNamespace = ((await welcome) as Welcome).namespace ?? null;
      this.#greeted = true;
      return true;
    } catch (error) {
      if (isPerdureError(error) && error !== EXITED_BEFORE_ANSWER) throw error;
      return false;
    }
  }

  call<N extends CallName>(name: N, params: CallParams<N>, waitMs = ANSWER_WAIT_MS): Promise<CallResults[N]> {
    return this.#request(name, params, null, waitMs) as Promise<CallResults[N]>;
  }

  /** Makes a call that sends items before its result. */
  stream<N extends keyof StreamItems>(
    name: N,
    params: CallParams<N>,
    onItem: (item: StreamItems[N]) => void,
  ): Promise<CallResults[N]> {
    // A stream may be silent for hours; a plain call that is not answered in time means a hung daemon.
    return this.#request(name, params, onItem as (item: unknown) => void, null) as Promise<CallResults[N]>;
  }

  /** Collects all items of a stream that ends by itself. */
  async collect<N extends keyof StreamItems>(name: N, params: CallParams<N>): Promise<Collected<N>> {
    const items: StreamItems[N][] = [];
    const result = await this.stream(name, params, (item) => items.push(item));
    return { items, result };
  }

  onClose(listener: () => void): void {
    if (this.#wire.isOpen) this.#closeListeners.push(listener);
    else listener();
  }

  close(): void {
    this.#isClosedHere = true;
    this.#wire.close();
  }

  #request(call: CallName, params: unknown, onItem: Pending["onItem"], waitMs: number | null): Promise<unknown> {
    const id = this.#nextId++;
    const request: RequestFrame = { id, call: wireNameOf(call), params };
    if (!this.#wire.isOpen) return Promise.reject(EXITED_BEFORE_ANSWER);
    // Calls made in one tick are written together.
    if (this.#outgoing.bytes === 0) process.nextTick(() => this.#flush());
    this.#outgoing.add(request);
    return this.#expect(id, onItem, waitMs);
  }

  #flush(): void {
    if (this.#outgoing.bytes > 0 && this.#wire.isOpen) this.#wire.write(this.#outgoing.take());
  }

  #expect(id: number, onItem: Pending["onItem"], waitMs: number | null): Promise<unknown> {
    // The socket keeps the program alive only while a call is pending.
    if (this.#pending.size === 0) this.#wire.ref();
    return new Promise((resolve, reject) => {
      const timer = waitMs === null ? null : setTimeout(() => this.#settle(id, { reject: noAnswer(waitMs) }), waitMs);
      this.#pending.set(id, { onItem, resolve, reject, timer });
    });
  }

  #settle(id: number, outcome: { result?: unknown; reject?: Error }): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#wire.unref();
    if (pending === undefined) return;
    if (pending.timer !== null) clearTimeout(pending.timer);
    if (outcome.reject) pending.reject(outcome.reject);
    else pending.resolve(outcome.result);
  }

  #onData(chunk: Buffer): void {
    this.#frames.push(chunk);
    for (let response = this.#nextResponse(); response !== null; response = this.#nextResponse()) {
      if ("item" in response) this.#pending.get(response.id)?.onItem?.(response.item);
      else if ("error" in response) this.#settle(response.id, { reject: errorFromBody(response.error) });
      else this.#settle(response.id, { result: response.result });
    }
  }

  /** Returns the next whole answer. What is none ends the connection: nothing after it could be understood. */
  #nextResponse(): ResponseFrame | null {
    try {
      const frame = this.#frames.next();
      if (frame === undefined) return null;
      if (isResponse(frame.value)) return frame.value;
    } catch (error) {
      if (!isPerdureError(error)) throw error;
    }
    this.#notUnderstood ??= notUnderstood();
    this.#wire.close();
    return null;
  }

  #onClose(): void {
    const lost = this.#isClosedHere ? closedHere() : this.#greeted ? answerLost() : EXITED_BEFORE_ANSWER;
    const reason = this.#notUnderstood ?? lost;
    for (const id of this.#pending.keys()) this.#settle(id, { reject: reason });
    for (const listener of this.#closeListeners) listener();
  }
}

function isResponse(value: unknown): value is ResponseFrame {
  return isTable(value) && (!("error" in value) || isTable(value.error));
}

const EXITED_BEFORE_ANSWER = new PerdureError("unavailable", "The daemon exited before it answered.", {
  hint: "try again",
});

/** Says that it was this program that closed the connection. */
export function closedHere(): PerdureError {
  return new PerdureError("unavailable", "This connection was closed.", { hint: "connect again" });
}

function answerLost(): PerdureError {
  return new PerdureError(
    "unavailable",
    "The daemon exited during a call, which may or may not have been carried out.",
    {
      hint: hintOf`check with ${verb("ls")}, then try again`,
      details: { lost: true },
    },
  );
}

function notUnderstood(): PerdureError {
  return new PerdureError("unavailable", "What answers at the daemon's socket does not speak perdure's protocol.", {
    hint: verb("doctor"),
  });
}

function noAnswer(waitMs: number): PerdureError {
  return new PerdureError("timed-out", `The daemon did not answer in ${waitMs / 1000} s.`, {
    hint: verb("doctor"),
  });
}
