import { mkdirSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { type RequestFrame, type ResponseFrame, encodeFrame, FrameReader } from "../../src/protocol/frames.ts";
import type { Home } from "./home.ts";

/** Hooks on one claim's way to the daemon and back; both may wait, and `onAnswer` may say that the answer gets lost. */
export interface ClaimHooks {
  onRequest?(): Promise<void>;
  onAnswer?(): Promise<"lost" | "pass">;
}

/** A proxy between commands and the daemon that can hold a claim, or its answer, at the very moment that matters. */
export class ClaimProxy {
  readonly env: Record<string, string>;
  claims: ClaimHooks = {};
  readonly #server: Server;
  readonly #upstream: string;
  readonly #sockets = new Set<Socket>();

  private constructor(home: Home, server: Server) {
    this.#server = server;
    this.#upstream = join(home.state, "perdure.sock");
    this.env = { ...home.env, PERDURE_HOME: join(home.dir, "proxy") };
    server.on("connection", (client) => void this.#join(client));
  }

  static async open(home: Home): Promise<ClaimProxy> {
    const folder = join(home.dir, "proxy");
    mkdirSync(folder, { mode: 0o700 });
    const server = createServer().listen(join(folder, "perdure.sock"));
    await once(server, "listening");
    return new ClaimProxy(home, server);
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  async #join(client: Socket): Promise<void> {
    client.pause();
    client.on("error", () => undefined);
    this.#sockets.add(client);
    const daemon = await reach(this.#upstream);
    daemon.on("error", () => undefined);
    this.#sockets.add(daemon);
    const claims = new Set<number>();
    this.#pass(client, daemon, async (frame) => {
      const { id, call } = frame as Partial<RequestFrame>;
      if (call !== "claim" || id === undefined) return "pass";
      claims.add(id);
      await this.claims.onRequest?.();
      return "pass";
    });
    this.#pass(daemon, client, async (frame) => {
      if (!claims.has((frame as ResponseFrame).id)) return "pass";
      return (await this.claims.onAnswer?.()) ?? "pass";
    });
    client.resume();
  }

  /** One frame after the other, in their order; the end comes last. */
  #pass(from: Socket, to: Socket, look: (frame: unknown) => Promise<"lost" | "pass">): void {
    const reader = new FrameReader();
    let before = Promise.resolve();
    const take = async (frame: unknown): Promise<void> => {
      if ((await look(frame)) === "pass") to.write(encodeFrame(frame));
      else to.destroy();
    };
    from.on("data", (chunk: Buffer) => {
      reader.push(chunk);
      for (let frame = reader.next(); frame !== undefined; frame = reader.next()) {
        const { value } = frame;
        before = before.then(() => take(value));
      }
    });
    from.on("close", () => {
      this.#sockets.delete(from);
      void before.then(() => to.end());
    });
  }
}

/** A daemon that crashed is replaced by whoever plays this: it is waited for. */
async function reach(path: string): Promise<Socket> {
  for (;;) {
    const socket = connect(path);
    const opened = await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(true));
      socket.once("error", () => resolve(false));
    });
    if (opened) return socket;
    await setTimeout(5);
  }
}
