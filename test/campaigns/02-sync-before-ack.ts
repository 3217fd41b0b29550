import { join } from "node:path";
import { connectToDaemon } from "../../src/client/connect.ts";
import { campaign, seeded } from "../support/campaign.ts";
import type { Home } from "../support/home.ts";
import { check, whole } from "../support/check.ts";
import { inHome } from "../support/in-home.ts";
import { sendParams } from "../support/send-params.ts";
import { Strace, straceRefused, systemCalls } from "./support/strace.ts";

interface Size {
  oneByOne: number;
  together: number;
}

/** At once: what they ask for in one turn of the daemon shares a commit, and its sync serves several acks. */
const SENDERS = 8;
const READS = ["read", "readv", "recvfrom", "recvmsg"];
const WRITES = ["write", "writev", "sendto", "sendmsg"];
const STORE_WRITES = ["pwrite64", "pwritev"];
const SYNCS = ["fsync", "fdatasync"];
/** A page of the store and a whole request fit. */
const BYTES_SHOWN = "8192";

export const syncBeforeAck = campaign<Size>({
  number: 2,
  promise: "sync comes before ack",
  reduced: { oneByOne: 80, together: 240 },
  full: { oneByOne: 1_000, together: 1_000 },
  async run(size, seed) {
    const refused = await straceRefused();
    if (refused === null) return inHome((home) => play(home, size, seed));
    process.stderr.write(`campaign 2 is skipped: ${refused}\n`);
    return { skipped: 1 };
  },
});

async function play(home: Home, size: Size, seed: number): Promise<Record<string, number>> {
  const random = seeded(seed);
  await home.perdure(["run", "coder", "--", "true"]);
  const alone = await traced(home, 1, numbers(0, size.oneByOne), random);
  const several = await traced(home, SENDERS, numbers(size.oneByOne, size.together), random);
  return {
    sends: alone.acks + several.acks,
    acksOneByOne: alone.acks,
    syncsOneByOne: alone.syncs,
    acksTogether: several.acks,
    syncsTogether: several.syncs,
    commitsShared: alone.shared + several.shared,
    acksBeforeSync: alone.early + several.early,
  };
}

function numbers(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, n) => from + n);
}

/** An id that is found again in a page of the store, between whatever bytes. */
function idOf(number: number): string {
  return `M${String(number).padStart(6, "0")}Z`;
}

async function traced(home: Home, senders: number, left: number[], random: () => number): Promise<Order> {
  const sends = left.length;
  const file = join(home.dir, `calls-of-${senders}`);
  const watched = [READS, WRITES, STORE_WRITES, SYNCS].flat().join(",");
  const options = ["-y", "-s", BYTES_SHOWN, "-e", `trace=${watched}`];
  const strace = await Strace.attach(home.daemonPid() ?? 0, file, options);
  try {
    await Promise.all(Array.from({ length: senders }, () => sendAll(home, left, random)));
  } finally {
    await strace.detach();
  }
  const order = await orderOf(file);
  check(order.acks === sends, `${sends} sends were acknowledged, and the trace shows ${order.acks} acks`);
  return order;
}

async function sendAll(home: Home, left: number[], random: () => number): Promise<void> {
  const client = await connectToDaemon({ env: home.env, autostart: false });
  try {
    for (let next = left.shift(); next !== undefined; next = left.shift())
      await client.call("send", sendParams(home, "coder", "x".repeat(1 + whole(random, 2_000)), { id: idOf(next) }));
  } finally {
    client.close();
  }
}

interface Order {
  acks: number;
  syncs: number;
  /** Syncs that let more than one message be acknowledged. */
  shared: number;
  early: number;
}

/** How far a message is: its request was read, it was written to the store, that was synced. */
type Stage = "asked" | "written" | "synced";

async function orderOf(file: string): Promise<Order> {
  const order: Order = { acks: 0, syncs: 0, shared: 0, early: 0 };
  const stages = new Map<string, Stage>();
  for await (const { text, line } of systemCalls(file)) {
    const name = text.slice(0, text.indexOf("("));
    const socket = text.includes("<socket:");
    const log = text.includes("/perdure.db-wal>");
    // An answer counts as soon as it is begun: once a byte of it is out, it is too late to sync.
    if (WRITES.includes(name) && socket && line !== "resumed") {
      for (const id of idsIn(text)) acknowledge(order, stages, id);
    }
    const succeeded = line !== "begun" && / = [0-9]+$/.test(text);
    if (!succeeded) continue;
    if (READS.includes(name) && socket) {
      for (const id of idsIn(text)) stages.set(id, "asked");
    } else if (STORE_WRITES.includes(name) && log) {
      for (const id of idsIn(text)) if (stages.get(id) === "asked") stages.set(id, "written");
    } else if (SYNCS.includes(name) && log) {
      const served = [...stages].filter(([, stage]) => stage === "written").map(([id]) => id);
      for (const id of served) stages.set(id, "synced");
      if (served.length > 0) order.syncs++;
      if (served.length > 1) order.shared++;
    }
  }
  return order;
}

function acknowledge(order: Order, stages: Map<string, Stage>, id: string): void {
  const stage = stages.get(id) ?? "never asked";
  if (stage !== "synced") order.early++;
  check(stage === "synced", `${id} was acknowledged when it was only ${stage}`);
  order.acks++;
  stages.delete(id);
}

function idsIn(text: string): string[] {
  return [...new Set(text.match(/M[0-9]{6}Z/g) ?? [])];
}
