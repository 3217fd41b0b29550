import type { CallParams } from "../protocol/calls/index.ts";
import { isPerdureError } from "../protocol/errors.ts";
import type { ClaimGrant } from "../protocol/records/launch.ts";
import type { Client } from "./connect.ts";

export type ClaimRequest = Omit<CallParams<"claim">, "token">;

/**
 * Claims a name, and once more with the same token if the answer was lost: whether or not the first call was carried
 * out, there is one grant and it belongs to this caller. The caller then keeps the fifo of its run open.
 */
export async function claimWithRetry(connect: () => Promise<Client>, request: ClaimRequest): Promise<ClaimGrant> {
  const params = { ...request, token: newToken() };
  try {
    return await claimOnce(connect, params);
  } catch (error) {
    if (!isPerdureError(error) || error.details?.lost !== true) throw error;
    return claimOnce(connect, params);
  }
}

async function claimOnce(connect: () => Promise<Client>, params: CallParams<"claim">): Promise<ClaimGrant> {
  const client = await connect();
  const { namespace: _unknown, ...before } = params;
  return client.call("claim", client.isOlder ? before : params);
}

export function newToken(): string {
  return process.getBuiltinModule("node:crypto").randomBytes(32).toString("base64url");
}
