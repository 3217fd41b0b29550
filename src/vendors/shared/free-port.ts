import { once } from "node:events";
import { createServer } from "node:net";
import { FREE_PORT_COUNT, FREE_PORT_FIRST } from "../../limits/index.ts";

/** How many were looked at by this process: one that was given away may not be listened on yet. */
let looked = 0;

/**
 * A port on loopback that nobody listens on. Counted from our own pid, and never twice by one process: of many that start at
 * once, and listen only a second later, hardly two come to the same one.
 */
export async function freePort(): Promise<number> {
  for (let n = 0; n < FREE_PORT_COUNT; n++) {
    const port = FREE_PORT_FIRST + ((process.pid + looked++ * 101) % FREE_PORT_COUNT);
    if (await isFree(port)) return port;
  }
  throw new Error(`every port from ${FREE_PORT_FIRST} on is taken`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, "127.0.0.1"), "listening");
    return true;
  } catch {
    return false; // whatever is in the way, there are others
  } finally {
    server.close();
  }
}
