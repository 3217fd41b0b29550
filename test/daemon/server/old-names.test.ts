import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Client } from "../../../src/client/connect.ts";
import { openPipe } from "../../../src/client/pipe-wire.ts";
import { calls, type CallName } from "../../../src/protocol/calls/index.ts";
import { WIRE_NAMES, wireNameOf } from "../../../src/protocol/calls/wire-names.ts";
import { encodeFrame, FrameReader, type RequestFrame } from "../../../src/protocol/frames.ts";
import { projectRefOf, sendParams } from "../../support/send-params.ts";
import { Home } from "../../support/home.ts";
import { RawClient } from "./raw-client.ts";

// Programs with an older library inside send the old names of calls, and so do clients of today, because the daemon they meet
// may be older. Both names are driven over the running daemon's socket, and must be answered as the old one always was.

type Renamed = keyof typeof WIRE_NAMES;
type Params = Record<string, unknown>;

let home: Home;
let client: RawClient;
beforeEach(async () => {
  home = new Home();
  await home.perdure(["daemon", "start"]);
  client = await RawClient.greeted(join(home.state, "perdure.sock"));
});
afterEach(async () => {
  client.close();
  await home.clear();
});

let lastId = 0;
/** Everything that a call is answered with; its last frame is the result or the error. */
async function answers(call: string, params: Params): Promise<unknown[]> {
  const id = ++lastId;
  client.send({ id, call, params });
  const frames: unknown[] = [];
  for (;;) {
    const frame = await client.next();
    if (frame === null) throw new Error("closed before the answer");
    if (frame.id !== id) throw new Error(`answered ${frame.id} instead of ${id}`);
    frames.push(frame);
    if (!("item" in frame)) return frames;
  }
}

const token = "t".repeat(43);
const here = (): Params => ({ here: projectRefOf(home), project: null });
const box = (): Params => ({ ...here(), as: null, nested: false });
const target = (): Params => ({ ...here(), name: "coder" });
const launch = { command: ["claude"], cwd: "/", environment: {}, vendor: { name: "claude", programAt: 0 } };

/** The proof of a client's claim on `coder`. */
async function claimed(): Promise<Params> {
  const [answer] = await answers("claim", {
    target: target(),
    kind: "client",
    token,
    pid: process.pid,
    command: null,
    cwd: null,
    environment: {},
    vendor: null,
    fresh: false,
    ephemeral: false,
  });
  const { run, generation } = (answer as { result: { run: string; generation: number } }).result;
  return { run, generation, token };
}

async function mailed(to: string): Promise<void> {
  await answers("send", { ...sendParams(home, to, "hello", { id: "one" }) });
}

interface Case {
  /** Makes what the call is about; its parameters. */
  params: () => Promise<Params> | Params;
  answers: unknown[];
}

const result = (expected: unknown): unknown => expect.objectContaining({ result: expected });
const item = (expected: object): unknown =>
  expect.objectContaining({ item: expect.objectContaining(expected) as unknown });
const error = (code: string, message: RegExp): unknown =>
  expect.objectContaining({
    error: expect.objectContaining({ code, message: expect.stringMatching(message) as unknown }) as unknown,
  });

/** The answer of each call under its old name, recorded before the rename. */
const CASES: Record<Renamed, Case> = {
  keepalive: {
    params: async () => {
      const proof = await claimed();
      const operator = await RawClient.greeted(join(home.state, "perdure.sock"));
      // The call stays open until the name is lost.
      setTimeout(() => {
        operator.send({ id: 1, call: "takeover", params: { target: target(), by: "test", killAfterMs: 0 } });
        void operator.next().then(() => operator.close());
      }, 200);
      return proof;
    },
    answers: [item({ displacedBy: "test" }), result({ held: false })],
  },
  bindConversation: {
    params: async () => ({ ...(await claimed()), session: "0b1c", ...launch }),
    answers: [
      result(expect.objectContaining({ session: { vendor: "claude", id: "0b1c", step: "new", restored: null } })),
    ],
  },
  restoreConversation: {
    params: async () => (await claimed()) && { target: target() },
    answers: [error("held", /^coder is running/)],
  },
  findConversations: {
    params: () => ({ vendor: null, cwd: home.project, environment: { HOME: home.dir } }),
    answers: [result({ count: 0 })],
  },
  showProject: {
    params: () => ({ here: projectRefOf(home) }),
    answers: [
      result(
        expect.objectContaining({ slug: "api", root: expect.stringMatching(/api$/), registered: false, workers: 0 }),
      ),
    ],
  },
  listProjects: {
    params: async () => (await claimed()) && {},
    answers: [item({ slug: "api", workers: 1 }), result({ count: 1 })],
  },
  moveProject: {
    params: async () => (await claimed()) && { here: projectRefOf(home), old: "api" },
    answers: [error("conflict", /^Project api is already here/)],
  },
  checkTrust: {
    params: () => ({ here: projectRefOf(home), text: "[workers.coder]", prompts: "{}" }),
    answers: [result({ trusted: false, before: null })],
  },
  findPane: {
    params: async () => (await claimed()) && { target: target() },
    answers: [error("conflict", /^api.coder runs in a terminal of its own/)],
  },
  readScreen: {
    params: async () => (await claimed()) && { target: target(), lines: 10 },
    answers: [error("conflict", /^api.coder runs in a terminal of its own/)],
  },
  takeMail: {
    params: async () => {
      const as = await claimed();
      await mailed("coder");
      return { ...box(), as, max: 1, waitMs: 0 };
    },
    answers: [result({ messages: [expect.objectContaining({ id: "one", body: "hello", state: "offered" })] })],
  },
  peekMail: {
    params: async () => {
      await claimed();
      await mailed("coder");
      return { ...box(), target: target(), all: false, limit: 10 };
    },
    answers: [item({ id: "one", state: "queued" }), result({ count: 1, paused: false })],
  },
  showMail: {
    params: async () => {
      await claimed();
      await mailed("coder");
      return { as: null, nested: false, id: "one" };
    },
    answers: [result(expect.objectContaining({ reply: null, steps: [expect.objectContaining({ state: "queued" })] }))],
  },
  findAnchorOwners: {
    params: async () => ({ ...here(), files: [String((await claimed()).run), "of-nobody"] }),
    answers: [result({ known: [expect.objectContaining({ worker: "coder", live: true })] })],
  },
  checkStore: {
    params: () => ({}),
    answers: [result({ ok: true, problems: [], tookMs: expect.any(Number) as unknown })],
  },
  stopDaemon: {
    params: () => ({}),
    answers: [result({ pid: expect.any(Number) as unknown })],
  },
};

const NAMES = Object.entries(WIRE_NAMES).flatMap(([call, old]) => [
  [old, call as Renamed] as const,
  [call, call as Renamed] as const,
]);

test.each(NAMES)("the call %s is answered as %s", async (word, call) => {
  const { params, answers: expected } = CASES[call];
  expect(await answers(word, await params())).toEqual(expected);
});

test("the old stop stops the daemon", async () => {
  await answers("stop", {});
  expect(await client.next()).toBeNull();
});

test("no call of today has the old name of another", () => {
  const old: string[] = Object.values(WIRE_NAMES);
  expect(Object.keys(calls).filter((name) => old.includes(name))).toEqual([]);
  expect(new Set(old).size).toBe(old.length);
});

test("a client says the old names, which an older daemon of the same protocol understands", async () => {
  const server = createServer((socket) => {
    const frames = new FrameReader();
    socket.on("data", (chunk: Buffer) => {
      frames.push(chunk);
      for (let frame = frames.next(); frame; frame = frames.next()) {
        const { id, call } = frame.value as RequestFrame;
        socket.write(encodeFrame({ id, result: call }));
      }
    });
  }).listen(join(home.dir, "older.sock"));
  await once(server, "listening");
  const wire = await openPipe(join(home.dir, "older.sock"));
  if (wire === null) throw new Error("nobody listens");
  const today = new Client(wire);
  const names = Object.keys(calls) as CallName[];
  const sent = await Promise.all(names.map((name) => today.call(name, {})));
  today.close();
  server.close();
  expect(sent).toEqual(names.map(wireNameOf));
  expect(sent).toContain("receive");
  expect(sent).not.toContain("takeMail");
});
