import { connect, type Collected } from "../../client/connect.ts";
import type { CallName, CallParams, CallResults, StreamItems } from "../../protocol/calls/index.ts";

/** One call to the daemon, for verbs that need no more. */
export async function callDaemon<N extends CallName>(
  name: N,
  params: CallParams<N>,
  waitMs?: number,
): Promise<CallResults[N]> {
  const client = await connect();
  try {
    return await client.call(name, params, waitMs);
  } finally {
    client.close();
  }
}

/** The same for a call that answers with a list. */
export async function listFromDaemon<N extends keyof StreamItems>(
  name: N,
  params: CallParams<N>,
): Promise<Collected<N>> {
  const client = await connect();
  try {
    return await client.collect(name, params);
  } finally {
    client.close();
  }
}
