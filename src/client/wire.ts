/** An open connection to the daemon's socket, as a client uses it. */
export interface Wire {
  readonly isOpen: boolean;
  /** Says who is told of what comes, and, once, that the connection is closed, by whichever side. */
  listen(onData: (chunk: Buffer) => void, onClose: () => void): void;
  write(bytes: Buffer): void;
  /** Keeps the program alive, or lets it end. */
  ref(): void;
  unref(): void;
  close(): void;
}

/** Opens a connection; resolves to null when nobody listens there. */
export type OpenWire = (path: string) => Promise<Wire | null>;

const NOBODY_LISTENS = new Set(["ENOENT", "ENOTDIR", "ECONNREFUSED", "ECONNRESET", "EPIPE", "EAGAIN"]);

/** Tells whether connecting failed because nobody listens at the path, by the name of the error. */
export function saysNobodyListens(code: string | undefined): boolean {
  return code !== undefined && NOBODY_LISTENS.has(code);
}
