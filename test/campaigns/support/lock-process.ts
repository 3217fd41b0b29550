import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { takeLock, type Lock } from "../../../src/daemon/server/lock.ts";

// Tries for the daemon's lock at the very moment it is told, so that several processes try at once.

export type LockOrder = { take: string; atMs: number } | "release";

const STDOUT = 1;
const held: { lock: Lock | null } = { lock: null };

for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line) as LockOrder;
  if (order === "release") {
    held.lock?.release();
    held.lock = null;
    writeSync(STDOUT, "released\n");
    continue;
  }
  while (Date.now() < order.atMs); // spinning: a timer would wake them one after the other
  writeSync(STDOUT, `${take(order.take)}\n`);
}

function take(file: string): string {
  try {
    held.lock = takeLock(file);
    return held.lock ? "taken" : "refused";
  } catch (error) {
    return `failed: ${String(error)}`;
  }
}
