import { appendFileSync, closeSync, openSync, rmSync, writeSync } from "node:fs";
import { newToken } from "../../../src/client/claim.ts";
import type { ClaimGrant } from "../../../src/protocol/records/launch.ts";
import { connectToDaemon } from "../../../src/client/connect.ts";
import type { CallParams } from "../../../src/protocol/calls/index.ts";
import { PerdureError } from "../../../src/protocol/errors.ts";
import { seeded } from "../../support/campaign.ts";

// One of many that want the same name, over and over, until its stdin ends. It witnesses its own ownership twice: an
// exclusive file that only one owner at a time can create, and a log that all of them append to.

export interface RacerOrders {
  claim: Omit<CallParams<"claim">, "pid">;
  log: string;
  heldFile: string;
  seed: number;
  /** How often, of all grants, it dies by SIGKILL while it holds the name. */
  deathRate: number;
}

const { claim, log, heldFile, seed, deathRate } = JSON.parse(process.argv[2] ?? "") as RacerOrders;
const random = seeded(seed);
const STDOUT = 1;
const stop = new AbortController();
process.stdin.resume().once("end", () => stop.abort());

const client = await connectToDaemon();
while (!stop.signal.aborted) {
  const grant = await claimOrNull();
  if (grant === null) continue;
  closeSync(openSync(heldFile, "wx"));
  appendFileSync(log, `enter ${grant.generation}\n`);
  const dies = random() < deathRate;
  appendFileSync(log, `exit ${grant.generation}\n`);
  rmSync(heldFile);
  writeSync(STDOUT, dies ? "died\n" : "granted\n");
  if (dies) process.kill(process.pid, "SIGKILL");
  await client.call("release", { run: grant.run, generation: grant.generation, token: grant.token });
}
client.close();

async function claimOrNull(): Promise<ClaimGrant | null> {
  try {
    return await client.call("claim", { ...claim, token: newToken(), pid: process.pid });
  } catch (error) {
    if (error instanceof PerdureError && error.code === "held") {
      writeSync(STDOUT, "refused\n");
      return null;
    }
    throw error;
  }
}
