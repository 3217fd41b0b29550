import { calls, type CallName } from "../../../src/protocol/calls/index.ts";
import { PROTOCOL_VERSION } from "../../../src/protocol/version.ts";
import { pick, whole } from "../../support/check.ts";
import { realCalls } from "./real-calls.ts";

export type Random = () => number;

const CALLS = Object.keys(calls) as CallName[];
/** Lengths that a frame may have; the daemon then waits for the rest of it. */
const LENGTHS = [0, 1, 3, 2 ** 20 - 1, 2 ** 20];
const STRINGS = ["", "\0", "../..", "__proto__", "constructor", "\uD800", "' OR 1=1 --", "$(id)", "/", "NaN", "🐢"];
const LONG_CHARS = 20_000;

/** A call that nobody could have meant. It is answered with an error, and the connection goes on. */
export function garbageCall(random: Random, id: number): object {
  const kind = random();
  if (kind < 0.15) return { id, call: noCall(random), params: randomJson(random) };
  const call = pick(random, CALLS);
  if (kind < 0.3) return { id, call, params: invalid(call, randomJson(random)), surplus: 1 };
  return { id, call, params: invalid(call, mutated(random, realCalls(random)[call])) };
}

/** A call that is well formed and concerns nobody there is: whatever it is answered with, it changes nothing. */
export function vainCall(random: Random, id: number): object {
  const real = realCalls(random);
  const call = pick(random, IN_VAIN);
  return { id, call, params: real[call] };
}

const IN_VAIN = [
  ...([
    "show",
    "history",
    "rename",
    "retire",
    "takeover",
    "restoreConversation",
    "fork",
    "pause",
    "release",
    "keepalive",
    "bindConversation",
  ] as const),
  ...(["ack", "showMail", "cancel", "redeliver", "send", "ask", "reply", "peekMail", "pending", "forget"] as const),
];

/** Bytes after which nothing can be understood any more: the connection is closed. */
export function brokenBytes(random: Random, greeted: boolean): Buffer {
  const kind = random();
  if (kind < 0.2) return randomBytes(random, 1 + whole(random, 2_000));
  // Announced and never sent: the announcement alone must be enough, or it waits for the rest.
  if (kind < 0.4) return Buffer.concat([length(2 ** 20 + 1 + whole(random, 2 ** 30)), randomBytes(random, 64)]);
  if (kind < 0.6) return framed(randomBytes(random, 1 + whole(random, 200)));
  if (kind < 0.8) return framed(Buffer.from(JSON.stringify(greeted ? noRequest(random) : noHello(random))));
  const json = JSON.stringify(garbageCall(random, 1));
  return framed(Buffer.from(json.slice(0, 1 + whole(random, json.length - 2))));
}

/** The beginning of a frame whose rest never comes. */
export function truncated(random: Random): Buffer {
  const all = framed(Buffer.from(JSON.stringify(garbageCall(random, 1))));
  const cut = all.subarray(0, whole(random, all.length));
  return random() < 0.5 ? cut : Buffer.concat([length(pick(random, LENGTHS)), cut]);
}

function framed(json: Buffer): Buffer {
  return Buffer.concat([length(json.length), json]);
}

function length(bytes: number): Buffer {
  const header = Buffer.alloc(4);
  header.writeUInt32BE(bytes % 2 ** 32);
  return header;
}

function noCall(random: Random): unknown {
  return random() < 0.5 ? `${pick(random, CALLS)}${pick(random, [" ", "\0", "S", ".x"])}` : randomJson(random);
}

/** No id that could be answered. */
function noRequest(random: Random): unknown {
  const ids = [0, -1, 1.5, 2 ** 53, "1", null, [], {}, true];
  return random() < 0.5 ? { ...garbageCall(random, 1), id: pick(random, ids) } : pick(random, [null, 1, "x", [], {}]);
}

function noHello(random: Random): unknown {
  const hello = { protocol: PROTOCOL_VERSION, version: "fuzz", token: null };
  const wrong = [
    { ...hello, protocol: whole(random, 2 ** 31) + PROTOCOL_VERSION + 1 },
    { ...hello, token: randomString(random) || "x" },
    { ...hello, surplus: randomJson(random) },
    { protocol: PROTOCOL_VERSION },
    garbageCall(random, 1),
  ];
  return pick(random, wrong);
}

/** The schema is the judge of what arrives: what it would let through gets something more that it does not. */
function invalid(call: CallName, params: unknown): unknown {
  const arriving = JSON.parse(JSON.stringify(params)) as unknown;
  return calls[call].params.safeParse(arriving).success ? { ...(arriving as object), surplus: 1 } : arriving;
}

/** One or several things about it are of another kind, too long, missing, or one too many. */
function mutated(random: Random, params: unknown): unknown {
  if (random() < 0.1) return randomJson(random);
  if (typeof params !== "object" || params === null || Object.keys(params).length === 0) return randomJson(random, 1);
  const copy: Record<string, unknown> = { ...params };
  const key = pick(random, Object.keys(copy));
  const kind = random();
  if (kind < 0.2) delete copy[key];
  else if (kind < 0.3) copy[randomString(random)] = randomJson(random);
  else if (kind < 0.6) copy[key] = randomJson(random);
  else copy[key] = mutated(random, copy[key]);
  return copy;
}

function randomJson(random: Random, depth = 0): unknown {
  const kind = random();
  if (kind < 0.1) return null;
  if (kind < 0.2) return random() < 0.5;
  if (kind < 0.4) return pick(random, [0, -1, 1e308, -0.5, 2 ** 53, whole(random, 100)]);
  if (kind < 0.7 || depth > 3) return randomString(random);
  const parts = Array.from({ length: whole(random, 5) }, () => randomJson(random, depth + 1));
  return kind < 0.85 ? parts : Object.fromEntries(parts.map((part) => [randomString(random), part]));
}

function randomString(random: Random): string {
  if (random() < 0.01) return "x".repeat(whole(random, LONG_CHARS));
  if (random() < 0.5) return pick(random, STRINGS);
  return Array.from({ length: whole(random, 20) }, () => String.fromCharCode(whole(random, 0x300))).join("");
}

function randomBytes(random: Random, count: number): Buffer {
  return Buffer.from(Array.from({ length: count }, () => whole(random, 256)));
}
