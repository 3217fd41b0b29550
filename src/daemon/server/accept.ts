import type { Socket } from "node:net";
import { HELLO_WAIT_MS } from "../../limits/index.ts";
import type { DaemonContext } from "../dispatch/call-context.ts";
import { BridgeConnection } from "../mcp/connection.ts";
import { Connection } from "./connection.ts";

/** A client of the daemon, of whichever kind. */
export interface ServerConnection {
  drain(): Promise<void>;
}

const BRACE = 0x7b;

/** Opens a client's connection, which its first byte decides: a frame's length begins with zero, a bridge's hello with a brace. */
export function acceptConnection(socket: Socket, daemon: DaemonContext): ServerConnection {
  let accepted: ServerConnection | null = null;
  const silent = setTimeout(() => socket.destroy(), HELLO_WAIT_MS).unref();
  const onError = (): unknown => socket.destroy();
  socket.once("error", onError);
  socket.once("close", () => clearTimeout(silent));
  socket.once("data", (chunk: Buffer) => {
    clearTimeout(silent);
    socket.off("error", onError);
    accepted = chunk[0] === BRACE ? new BridgeConnection(socket, daemon) : new Connection(socket, daemon);
    socket.emit("data", chunk);
  });
  return {
    drain: async () => {
      if (accepted === null) socket.destroy();
      else await accepted.drain();
    },
  };
}
