import { connect, type Socket } from "node:net";
import { once } from "node:events";
import { encodeFrame } from "../../../src/protocol/frames.ts";
import { PROTOCOL_VERSION } from "../../../src/protocol/version.ts";
import { seeded } from "../../support/campaign.ts";
import { pick, whole } from "../../support/check.ts";

// [socket] [count] [seed]. Holds so many connections that say next to nothing, until its input ends.

const [path = "", count = "0", seed = "0"] = process.argv.slice(2);
const random = seeded(Number(seed));
const HELLO = encodeFrame({ protocol: PROTOCOL_VERSION, version: "slow", token: null });
const STATUS = encodeFrame({ id: 1, call: "status", params: {} });
const MEBIBYTE = Buffer.from([0, 0x10, 0, 0]);
const TICK_MS = 20;
/** Asked for and never read; many times what one connection may keep waiting. */
const UNREAD = Buffer.concat(Array.from({ length: 20_000 }, () => STATUS));

type Kind = "silent" | "half a hello" | "byte by byte" | "endless frame" | "never reads";
const KINDS: readonly Kind[] = ["silent", "half a hello", "byte by byte", "endless frame", "never reads"];
const dribblers = new Set<{ socket: Socket; at: number; endless: boolean }>();
let reopened = 0;

await Promise.all(Array.from({ length: Number(count) }, (_, n) => open(KINDS[n % KINDS.length] ?? "silent")));
process.stdout.write("ready\n");
const ticking = setInterval(dribble, TICK_MS);
process.stdin.resume();
await once(process.stdin, "end");
clearInterval(ticking);
process.stdout.write(`${JSON.stringify({ reopened })}\n`, () => process.exit(0));

async function open(kind: Kind): Promise<void> {
  const socket = connect(path);
  socket.on("error", () => undefined);
  await once(socket, "connect");
  // The daemon lets go of whoever does not say hello; then the next one comes.
  socket.once("close", () => {
    reopened++;
    void open(kind);
  });
  if (kind === "silent") return void socket.resume();
  if (kind === "half a hello")
    return void socket.resume().write(HELLO.subarray(0, 1 + whole(random, HELLO.length - 2)));
  socket.write(HELLO);
  if (kind === "never reads") {
    socket.pause();
    socket.write(UNREAD);
    return;
  }
  socket.resume();
  const endless = kind === "endless frame";
  if (endless) socket.write(MEBIBYTE);
  const dribbler = { socket, at: 0, endless };
  dribblers.add(dribbler);
  socket.once("close", () => dribblers.delete(dribbler));
}

/** A byte here and there: of calls that are whole one day, and of frames that never will be. */
function dribble(): void {
  const all = [...dribblers];
  for (let n = 0; n < all.length / 10; n++) {
    const dribbler = pick(random, all);
    const byte = dribbler.endless ? Buffer.from([0x20]) : STATUS.subarray(dribbler.at, dribbler.at + 1);
    dribbler.at = (dribbler.at + 1) % STATUS.length;
    dribbler.socket.write(byte);
  }
}
