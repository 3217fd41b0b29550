import { connectToDaemon, type Client, type Collected } from "../../client/connect.ts";
import type { CallName, CallParams, CallResults, StreamItems } from "../../protocol/calls/index.ts";

/** Makes one call to the daemon. */
export async function callDaemon<N extends CallName>(
  name: N,
  params: CallParams<N>,
  waitMs?: number,
): Promise<CallResults[N]> {
  return (await daemonClient()).call(name, params, waitMs);
}

/** Makes one call that streams a list, and collects its items. */
export async function listFromDaemon<N extends keyof StreamItems>(
  name: N,
  params: CallParams<N>,
): Promise<Collected<N>> {
  return (await daemonClient()).collect(name, params);
}

/** Module state, because a process runs one verb, and all of its calls share one connection; it closes with the process. */
let shared: Promise<Client> | null = null;

/** Returns the connection of this process to the daemon; a new one if there is none or the daemon has closed it. */
export function daemonClient(): Promise<Client> {
  shared ??= connectShared();
  return shared;
}

async function connectShared(): Promise<Client> {
  try {
    const client = await connectToDaemon();
    client.onClose(() => (shared = null));
    return client;
  } catch (error) {
    shared = null;
    throw error;
  }
}
