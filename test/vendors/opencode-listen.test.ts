import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Outward, Sign } from "../../src/protocol/records/conversation.ts";
import { firstPromptFile, listen, serverFile } from "../../src/vendors/opencode/listen.ts";
import { until } from "../terminal/tmux.ts";
import { folder, put } from "./fixtures.ts";

const PASSWORD = "made-up";
const OURS = "ses_ours";

let server: Server;
let streams: ServerResponse[];
/** Conversations it knows, and which of them work. */
let sessions: Record<string, object>;
let busy: Record<string, object>;
let isSilent: boolean;
let refused: number;
let heard: Sign[];
/** The activity that it tells of where that proves nothing. */
let shown: Outward[];
/** The paths to which a prompt was posted. */
let posted: string[];
let stop: () => void;

beforeEach(async () => {
  [streams, sessions, busy, isSilent, refused, heard, shown, posted] = [[], {}, {}, false, 0, [], [], []];
  server = createServer(serve).listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(() => {
  stop();
  server.closeAllConnections();
  server.close();
});

function serve({ url = "", headers }: IncomingMessage, response: ServerResponse): void {
  if (headers.authorization !== `Basic ${Buffer.from(`opencode:${PASSWORD}`).toString("base64")}`) {
    refused++;
    response.writeHead(401).end();
  } else if (isSilent) {
    streams.push(response);
  } else if (url === "/event") {
    streams.push(response.writeHead(200, { "content-type": "text/event-stream" }));
    say(response, "server.connected", {});
  } else if (url.endsWith("/prompt_async")) {
    posted.push(url);
    response.writeHead(204).end();
  } else {
    const session = sessions[url.slice("/session/".length)];
    const body = url === "/session/status" ? busy : session;
    response.writeHead(body ? 200 : 404).end(JSON.stringify(body ?? {}));
  }
}

function say(stream: ServerResponse | undefined, type: string, properties: object): void {
  stream?.write(`data: ${JSON.stringify({ id: "evt_1", type, properties })}\n\n`);
}

function prompt(sessionID: string, created: number, parentID?: string): void {
  sessions[sessionID] ??= { id: sessionID, parentID, time: { created } };
  say(streams.at(-1), "message.updated", {
    sessionID,
    info: { id: "msg_1", role: "user", sessionID, time: { created } },
  });
}

function status(sessionID: string, type: string): void {
  say(streams.at(-1), "session.status", { sessionID, status: { type } });
}

async function connect(password: string | null = PASSWORD, dir = folder()): Promise<void> {
  const { port } = server.address() as AddressInfo;
  const { name, text } = serverFile(String(port), password);
  stop = listen(
    { runDir: dir, session: OURS },
    (sign) => heard.push(sign),
    (outward) => shown.push(outward),
  );
  put(dir, name, text); // the follower begins before the launch has furnished its folder
  if (password !== null) await until("a connection", () => streams[0] ?? null);
}

async function told(count: number): Promise<[session: string, activity: string | undefined][]> {
  await until(`${count} signs`, () => (heard.length >= count ? true : null));
  return heard.map(({ session, activity }) => [session, activity]);
}

/** A time so far in the future that it is after the start, whatever the clock says. */
const soon = (n: number): number => Date.now() + 1_000 * n;

test("a prompt is the proof, and the turn is followed to its end", async () => {
  sessions[OURS] = { id: OURS, time: { created: 5 } };
  await connect();
  prompt(OURS, soon(1));
  status(OURS, "busy");
  status(OURS, "idle");
  expect(await told(3)).toEqual([
    [OURS, "busy"],
    [OURS, "busy"],
    [OURS, "idle"],
  ]);
});

test("the first prompt is sent when the server is there, and once", async () => {
  const dir = folder();
  const { name, text } = firstPromptFile("go", "fake/some/model", "plan");
  expect(JSON.parse(text)).toEqual({
    parts: [{ type: "text", text: "go" }],
    model: { providerID: "fake", modelID: "some/model" },
    agent: "plan",
  });
  put(dir, name, text);
  await connect(PASSWORD, dir);
  await until("what is said first", () => posted[0] ?? null);
  streams[0]?.end();
  await until("another connection", () => streams[1] ?? null);
  prompt(OURS, soon(1));
  await told(1);
  expect(posted).toEqual([`/session/${OURS}/prompt_async`]);
  expect(existsSync(join(dir, name))).toBe(false);
});

test("its user is asked, also by agents below it: blocked until the last question is answered", async () => {
  sessions["ses_below"] = { id: "ses_below", parentID: OURS };
  sessions["ses_other"] = { id: "ses_other" };
  await connect();
  prompt(OURS, soon(1));
  const ask = (type: string, properties: object): void => say(streams.at(-1), type, properties);
  ask("permission.asked", { id: "per_1", sessionID: OURS });
  status(OURS, "busy"); // it says so while it waits
  ask("question.asked", { id: "que_1", sessionID: "ses_below" });
  ask("permission.asked", { id: "per_2", sessionID: "ses_other" });
  ask("question.rejected", { requestID: "que_1", sessionID: "ses_below" });
  ask("permission.replied", { requestID: "per_1", sessionID: OURS });
  status(OURS, "idle");
  await told(6);
  expect(heard.map(({ session, activity, blocked }) => [session, activity, blocked])).toEqual([
    [OURS, "busy", undefined],
    [OURS, "blocked", "permission"],
    [OURS, "blocked", "question"],
    [OURS, "blocked", "permission"],
    [OURS, "busy", undefined],
    [OURS, "idle", undefined],
  ]);
});

test("nothing before a prompt is a sign, nor are repeated events of an old one", async () => {
  await connect();
  status(OURS, "idle");
  prompt(OURS, Date.now() - 60_000);
  prompt(OURS, soon(1));
  expect(await told(1)).toEqual([[OURS, "busy"]]);
});

test("/new after a prompt: the next prompt leads to the new one; the old one may go on", async () => {
  await connect();
  prompt(OURS, soon(1));
  prompt("ses_new", soon(2));
  status(OURS, "busy");
  status(OURS, "idle");
  status("ses_new", "idle");
  expect(await told(3)).toEqual([
    [OURS, "busy"],
    ["ses_new", "busy"],
    ["ses_new", "idle"],
  ]);
});

test("A1: a new conversation before any prompt is told alone: nothing showed that the other one was open", async () => {
  await connect();
  prompt("ses_new", soon(1));
  expect(await told(1)).toEqual([["ses_new", "busy"]]);
});

test("another conversation that was there before is told as it is: the wrong one", async () => {
  sessions.ses_old = { id: "ses_old", time: { created: 5 } };
  await connect();
  prompt("ses_old", soon(1));
  expect(await told(1)).toEqual([["ses_old", "busy"]]);
});

test("subagents are not taken for the agent itself", async () => {
  await connect();
  prompt(OURS, soon(1));
  prompt("ses_child", soon(2), OURS);
  status("ses_child", "busy");
  prompt(OURS, soon(3));
  expect(await told(2)).toEqual([
    [OURS, "busy"],
    [OURS, "busy"],
  ]);
});

test("a turn whose beginning nobody heard is followed to its end", async () => {
  busy[OURS] = { type: "busy" };
  await connect();
  expect(await told(1)).toEqual([[OURS, "busy"]]);
});

test("a stream that ends, and a server that is slow to begin with: asked again", async () => {
  isSilent = true;
  await connect();
  isSilent = false;
  const first = await until("a second try", () => streams[1] ?? null);
  first.end();
  await until("a third one", () => streams[2] ?? null);
  prompt(OURS, soon(1));
  expect(await told(1)).toEqual([[OURS, "busy"]]);
});

test("a password that is not ours to know: nothing is heard, and nothing breaks", async () => {
  await connect(null);
  await until("two tries", () => (refused >= 2 ? true : null));
  expect(heard).toEqual([]);
});

test("nothing is reported after the end", async () => {
  await connect();
  stop();
  prompt(OURS, soon(1));
  await once(streams[0] ?? server, "close");
  expect(heard).toEqual([]);
});

test("C1: a program at rest is idle from its first connection on, which proves nothing", async () => {
  await connect();
  await until("idle", () => shown[0] ?? null);
  expect([shown, heard]).toEqual([[{ activity: "idle" }], []]);
});

test("C2: a turn that failed tells why, by the provider's status; another conversation's does not", async () => {
  await connect();
  const fail = (sessionID: string, data: object, name = "APIError"): void =>
    say(streams.at(-1), "session.error", { sessionID, error: { name, data } });
  fail("ses_other", { message: "not ours", statusCode: 401 });
  fail(OURS, { message: "made-up error 401", statusCode: 401 });
  fail(OURS, { message: "401 in words only", statusCode: 500 });
  fail(OURS, { message: "slower", statusCode: 429 });
  fail(OURS, { message: "no key" }, "ProviderAuthError");
  await until("all of them", () => (shown.length === 5 ? true : null));
  expect(shown.slice(1)).toEqual([
    { activity: "blocked", blocked: "login", words: "made-up error 401" },
    { activity: "idle" },
    { activity: "blocked", blocked: "limit", words: "slower" },
    { activity: "blocked", blocked: "login", words: "no key" },
  ]);
});
