import { getSystemErrorName } from "node:util";
import { saysNobodyListens, type Wire } from "./wire.ts";

/** The major version of Node whose pipes are known to be as they are described here. */
const KNOWN_NODE = "24.";

/**
 * Opens a connection by the pipe that Node's sockets are made of, without `node:net` and the streams that it loads: these take 3.4 ms
 * of the 5 that a short command may cost beside an empty Node. The pipe is no public part of Node, so another version, or a Node that
 * keeps it to itself, is left to the sockets, as is a connection that fails in a way that they should tell.
 */
export async function openPipe(path: string): Promise<Wire | null> {
  const wire = await connectPipe(path);
  if (wire !== undefined) return wire;
  const { openSocket } = await import("./socket-wire.ts");
  return openSocket(path);
}

/** Resolves to null when nobody listens; to undefined when the pipe cannot be used, or cannot say what is wrong. */
async function connectPipe(path: string): Promise<Wire | null | undefined> {
  const bindings = pipeBindings();
  if (bindings === null) return undefined;
  const { Pipe, PipeConnectWrap, constants } = bindings.pipes;
  const handle = new Pipe(constants.SOCKET);
  const status = await new Promise<number>((resolve) => {
    const request = new PipeConnectWrap();
    request.oncomplete = resolve;
    const refused = handle.connect(request, path);
    if (refused) resolve(refused);
  });
  if (status === 0) return new PipeWire(handle, bindings.streams);
  handle.close();
  return saysNobodyListens(getSystemErrorName(status)) ? null : undefined;
}

class PipeWire implements Wire {
  readonly #handle: PipeHandle;
  readonly #streams: StreamBinding;
  #isOpen = true;
  #onClose: () => void = () => undefined;

  constructor(handle: PipeHandle, streams: StreamBinding) {
    this.#handle = handle;
    this.#streams = streams;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  listen(onData: (chunk: Buffer) => void, onClose: () => void): void {
    const { streamBaseState: state, kReadBytesOrError, kArrayBufferOffset } = this.#streams;
    this.#onClose = onClose;
    this.#handle.onread = (bytes) => {
      const length = state[kReadBytesOrError] ?? 0;
      if (length > 0 && bytes !== undefined) onData(Buffer.from(bytes, state[kArrayBufferOffset], length));
      else if (length < 0) this.close();
    };
    this.#handle.readStart();
  }

  /** A peer that takes nothing more may have said why: what it wrote is read to the end, and the end closes. */
  write(bytes: Buffer): void {
    if (!this.#isOpen) return;
    const request = new this.#streams.WriteWrap();
    request.oncomplete = () => undefined;
    request.buffer = bytes; // kept until it is written
    this.#handle.writeBuffer(request, bytes);
  }

  ref(): void {
    this.#handle.ref();
  }

  unref(): void {
    this.#handle.unref();
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#handle.close(this.#onClose);
  }
}

interface PipeHandle {
  onread: (bytes?: ArrayBuffer) => void;
  /** Returns a negative number for what is known to fail at once; the request is told of all else. */
  connect(request: ConnectRequest, path: string): number | undefined;
  readStart(): void;
  writeBuffer(request: WriteRequest, bytes: Buffer): number;
  ref(): void;
  unref(): void;
  close(then?: () => void): void;
}

interface ConnectRequest {
  oncomplete: (status: number) => void;
}

interface WriteRequest {
  oncomplete: () => void;
  buffer: Buffer;
}

interface PipeBinding {
  Pipe: new (kind: number) => PipeHandle;
  PipeConnectWrap: new () => ConnectRequest;
  constants: { SOCKET: number };
}

interface StreamBinding {
  WriteWrap: new () => WriteRequest;
  /** Tells what the last read was, at the places that the other two fields name. */
  streamBaseState: Int32Array;
  kReadBytesOrError: number;
  kArrayBufferOffset: number;
}

/** Returns the parts of Node that its sockets are made of; null where they are not to be had. */
function pipeBindings(): { pipes: PipeBinding; streams: StreamBinding } | null {
  const { binding } = process as unknown as { binding?: (name: string) => unknown };
  if (binding === undefined || !process.versions.node.startsWith(KNOWN_NODE)) return null;
  // With --pending-deprecation Node would say on standard error that this is deprecated, which is nobody's business.
  const { noDeprecation } = process;
  process.noDeprecation = true;
  try {
    return { pipes: binding("pipe_wrap") as PipeBinding, streams: binding("stream_wrap") as StreamBinding };
  } catch {
    return null; // under --permission
  } finally {
    process.noDeprecation = noDeprecation ?? false;
  }
}
