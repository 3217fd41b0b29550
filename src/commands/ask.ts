import { connect } from "../client/connect.ts";
import type { CallName, CallParams, CallResults } from "../protocol/calls.ts";

/** One call to the daemon, for verbs that need no more. */
export async function ask<N extends CallName>(name: N, params: CallParams<N>): Promise<CallResults[N]> {
  const client = await connect();
  try {
    return await client.call(name, params);
  } finally {
    client.close();
  }
}
