import { once } from "node:events";
import { FREE_PORT_COUNT, FREE_PORT_FIRST } from "../../limits/index.ts";

/**
 * How many ports this process has tried. The count is the process's and not a caller's: a port that was given away is
 * not listened on until a second later, and whoever asks meanwhile, for whichever worker, must not be given it again.
 */
let triedByThisProcess = 0;

/**
 * Finds a port on loopback that nobody listens on. The search begins at our own pid, so that two processes which look
 * at the same time hardly come to the same port, and no process gets a port twice before it has tried all of them.
 */
export async function freePort(): Promise<number> {
  for (let n = 0; n < FREE_PORT_COUNT; n++) {
    const port = FREE_PORT_FIRST + ((process.pid + triedByThisProcess++ * 101) % FREE_PORT_COUNT);
    if (await isFree(port)) return port;
  }
  throw new Error(`every port from ${FREE_PORT_FIRST} on is taken`);
}

async function isFree(port: number): Promise<boolean> {
  // Most starts need no port, and loading what listens takes more than a millisecond of a start.
  const server = process.getBuiltinModule("node:net").createServer();
  try {
    await once(server.listen(port, "127.0.0.1"), "listening");
    return true;
  } catch {
    return false; // for whatever reason, the next port is tried
  } finally {
    server.close();
  }
}
