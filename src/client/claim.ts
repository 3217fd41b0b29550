import { closeSync, openSync, readSync } from "node:fs";
import type { CallParams } from "../protocol/calls/index.ts";
import { isPerdureError } from "../protocol/errors.ts";
import type { ClaimGrant } from "../protocol/records/launch.ts";
import { isErrno } from "../state/files.ts";
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
  return client.call("claim", client.isOlder ? forOlderDaemon(params) : params);
}

/** A daemon of an earlier version refuses the words that it does not know, and is given the worker's environment as one. */
function forOlderDaemon({ namespace: _ours, scope: _whose, own, ...params }: CallParams<"claim">): CallParams<"claim"> {
  return { ...params, environment: { ...params.environment, ...own } };
}

/** Makes a token that nobody can guess. The kernel is asked for it, because loading `node:crypto` takes 4 ms of every `run`. */
export function newToken(): string {
  return (randomBytesOfKernel(TOKEN_LENGTH) ?? randomBytesOfNode(TOKEN_LENGTH)).toString("base64url");
}

const TOKEN_LENGTH = 32;

/** Returns null where the system has no such file. */
function randomBytesOfKernel(length: number): Buffer | null {
  let fd: number | null = null;
  try {
    fd = openSync("/dev/urandom", "r");
    const bytes = Buffer.alloc(length);
    return readSync(fd, bytes) === length ? bytes : null;
  } catch (error) {
    if (isErrno(error, "ENOENT", "EACCES", "EPERM", "ENXIO", "ENODEV")) return null;
    throw error;
  } finally {
    if (fd !== null) closeSync(fd);
  }
}

function randomBytesOfNode(length: number): Buffer {
  return process.getBuiltinModule("node:crypto").randomBytes(length);
}
