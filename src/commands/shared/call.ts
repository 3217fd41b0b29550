import { connectToDaemon, type Collected } from "../../client/connect.ts";
import type { CallName, CallParams, CallResults, StreamItems } from "../../protocol/calls/index.ts";

/** Makes one call to the daemon on a connection of its own. */
export async function callDaemon<N extends CallName>(
  name: N,
  params: CallParams<N>,
  waitMs?: number,
): Promise<CallResults[N]> {
  const client = await connectToDaemon();
  try {
    return await client.call(name, params, waitMs);
  } finally {
    client.close();
  }
}

/** Makes one call that streams a list, on a connection of its own, and collects its items. */
export async function listFromDaemon<N extends keyof StreamItems>(
  name: N,
  params: CallParams<N>,
): Promise<Collected<N>> {
  const client = await connectToDaemon();
  try {
    return await client.collect(name, params);
  } finally {
    client.close();
  }
}
