import { connect } from "node:net";
import { once } from "node:events";
import { encodeFrame } from "../../../src/protocol/frames.ts";
import { PROTOCOL_VERSION } from "../../../src/protocol/version.ts";
import { seeded } from "../../support/campaign.ts";
import { check, whole, within } from "../../support/check.ts";
import { FuzzConnection } from "./fuzz-connection.ts";
import { brokenBytes, garbageCall, truncated, vainCall, type Random } from "./fuzz-frames.ts";

// [socket] [frames] [seed]. Throws hostile bytes at a daemon over several connections; prints what became of them.

export interface FuzzFigures {
  frames: number;
  connections: number;
  answeredWithError: number;
  closed: number;
}

const LANES = 4;
const CALLS_MAX = 200;
const BEFORE_HELLO = 0.25;
const [path = "", frames = "0", seed = "0"] = process.argv.slice(2);
const figures: FuzzFigures = { frames: 0, connections: 0, answeredWithError: 0, closed: 0 };

await Promise.all(Array.from({ length: LANES }, (_, lane) => attack(seeded(Number(seed) + lane * 7_919))));
process.stdout.write(`${JSON.stringify(figures)}\n`);

async function attack(random: Random): Promise<void> {
  while (figures.frames < Number(frames)) {
    const socket = connect(path);
    await within("a connection", once(socket, "connect"));
    figures.connections++;
    const peer = new FuzzConnection(socket);
    if (random() < BEFORE_HELLO) await breakOff(peer, random, false);
    else await converse(peer, random);
    socket.destroy();
  }
}

/** Hello, calls that are answered one by one, and then one of the ways to end badly. */
async function converse(peer: FuzzConnection, random: Random): Promise<void> {
  peer.write(encodeFrame({ protocol: PROTOCOL_VERSION, version: "fuzz", token: null }));
  const count = 1 + whole(random, CALLS_MAX);
  const vain = new Set<number>();
  for (let id = 1; id <= count; id++) {
    if (random() < 0.2) vain.add(id);
    peer.write(encodeFrame(vain.has(id) ? vainCall(random, id) : garbageCall(random, id)));
  }
  figures.frames += count;
  // Some go before they have read a single answer.
  if (random() < 0.05) return;
  await peer.answered(count + 1);
  for (const [id, answer] of peer.answers) {
    if (id > 0 && !vain.has(id)) check("error" in answer, () => `garbage was answered with ${JSON.stringify(answer)}`);
    if ("error" in answer) figures.answeredWithError++;
    const code = answer.error?.code;
    check(code !== "internal", () => `garbage was answered with ${JSON.stringify(answer)}`);
  }
  if (random() < 0.3) await breakOff(peer, random, true);
}

async function breakOff(peer: FuzzConnection, random: Random, greeted: boolean): Promise<void> {
  figures.frames++;
  if (random() < 0.5) {
    peer.write(truncated(random));
    peer.socket.end();
  } else {
    peer.write(brokenBytes(random, greeted));
    // Random bytes may announce a frame that is waited for: the end of the stream is the end of that, too.
    if (random() < 0.5) peer.socket.end();
    else return;
  }
  await within("the end of a broken connection", peer.closed);
  figures.closed++;
}
