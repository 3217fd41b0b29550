import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";

/** A server in the daemon's place, for the tests of one file: it says nothing by itself. */
export function socketServer(): { path: string; connection: () => Promise<Socket> } {
  const dir = mkdtempSync(join(tmpdir(), "perdure-wire-"));
  const path = join(dir, "socket");
  let server: Server;
  beforeAll(async () => {
    server = createServer().listen(path);
    await once(server, "listening");
  });
  afterAll(() => {
    server.close();
    rmSync(dir, { recursive: true });
  });
  return {
    path,
    connection: async () => ((await once(server, "connection")) as [Socket])[0],
  };
}
