import type { CallParams } from "../protocol/calls/index.ts";
import { isPerdureError } from "../protocol/errors.ts";
import type { ClaimGrant } from "../protocol/records/launch.ts";
import type { Client } from "./connect.ts";

export type ClaimRequest = Omit<CallParams<"claim">, "token">;

/**
 * A claim whose answer was lost is asked again once, with the same token: whether or not the first one was carried
 * out, there is one grant and it is ours.
 */
export async function claimWithRetry(connected: () => Promise<Client>, request: ClaimRequest): Promise<ClaimGrant> {
  const params = { ...request, token: newToken() };
  try {
    return await (await connected()).call("claim", params);
  } catch (error) {
    if (!isPerdureError(error) || error.details?.lost !== true) throw error;
    return (await connected()).call("claim", params);
  }
}

export function newToken(): string {
  return process.getBuiltinModule("node:crypto").randomBytes(32).toString("base64url");
}
