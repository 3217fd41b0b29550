import { writeSync } from "node:fs";
import { connect } from "../../../src/library/perdure.ts";
import type { Lease } from "../../../src/library/lease.ts";
import type { ReceivedMessage } from "../../../src/library/mailbox.ts";
import { seeded } from "../../support/campaign.ts";
import { isUnavailable } from "../../support/send-params.ts";

// Reads one worker's mail with the library, and tells on stdout what it was offered and what it has acknowledged. It dies
// of its own SIGKILL at chosen points: told before acknowledged, so whatever counts as read was seen by somebody.

export interface ConsumerOrders {
  name: string;
  seed: number;
  /** How often, of all offers, it dies holding them. */
  deathRate: number;
}

/** One line on its stdout. */
export type ConsumerLine =
  | { offered: string; attempt: number; from: string; body: string }
  | { acked: string }
  | { missed: string }
  | { died: true };

const { name, seed, deathRate } = JSON.parse(process.argv[2] ?? "") as ConsumerOrders;
const random = seeded(seed);
const STDOUT = 1;
const IN_HAND_MOST = 30;
/** The time without another message after which those in hand are acknowledged. */
const IDLE_MS = 50;

const lease = await claimed();
let inHand: ReceivedMessage[] = [];
let idle: NodeJS.Timeout | undefined;
for await (const message of lease.receive()) {
  clearTimeout(idle);
  const { id, attempt, from, body } = message;
  say({ offered: id, attempt, from, body });
  inHand.push(message);
  if (random() < deathRate) die();
  // Sometimes one by one, sometimes many at once: then several are in hand when it dies.
  if (inHand.length < IN_HAND_MOST && random() < 0.8) idle = setTimeout(() => void acknowledgeAll(), IDLE_MS);
  else await acknowledgeAll();
}

/** The daemon may be killed at its start, or before it answers; a claim that nobody knows the outcome of is left to die. */
async function claimed(): Promise<Lease> {
  try {
    return await (await connect()).claim(name);
  } catch (error) {
    if (isUnavailable(error)) die();
    throw error;
  }
}

async function acknowledgeAll(): Promise<void> {
  const handled = inHand;
  inHand = [];
  await Promise.all(handled.map(acknowledge));
}

async function acknowledge(message: ReceivedMessage): Promise<void> {
  const acked = message.ack();
  // While it is on its way: it may count or not.
  if (random() < deathRate / 4) die();
  say((await acked) ? { acked: message.id } : { missed: message.id });
}

function say(word: ConsumerLine): void {
  writeSync(STDOUT, `${JSON.stringify(word)}\n`);
}

function die(): never {
  say({ died: true });
  process.kill(process.pid, "SIGKILL");
  throw new Error("unreachable");
}
