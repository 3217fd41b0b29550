import { chmodSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CALLS_IN_FLIGHT_MAX, FRAME_BYTES_MAX } from "../../../src/limits/index.ts";
import { Home } from "../../support/home.ts";
import { RawClient } from "./raw-client.ts";

let home: Home;
let socket: string;
beforeEach(async () => {
  home = new Home();
  socket = join(home.state, "perdure.sock");
  await home.perdure(["daemon", "start"]);
});
afterEach(() => home.clear());

const place = (): object => ({ identity: home.project, root: home.project, base: "api" });

test.each([
  [0, "upgrade this perdure"],
  [99, "restart the daemon: perdure daemon stop (workers keep running)"],
])("a client of protocol %i gets one clear line and is let go", async (protocol, hint) => {
  const client = await RawClient.open(socket);
  client.send({ protocol, version: "0.0.1", token: null });
  const refusal = await client.next();
  expect(refusal?.error).toMatchObject({
    code: "version",
    hint,
    message: expect.stringContaining("perdure 0.0.1") as string,
  });
  expect(await client.next()).toBeNull();
});

const NOT_FRAMES: [string, Buffer][] = [
  ["a frame over the limit", lengthOf(FRAME_BYTES_MAX + 1)],
  ["a length of 4 GiB", lengthOf(0xffffffff)],
  ["JSON that is none", Buffer.concat([lengthOf(4), Buffer.from("{{{{")])],
  ["bytes that are no UTF-8", Buffer.concat([lengthOf(4), Buffer.from([0xff, 0xfe, 0, 1])])],
  ["a call before the hello", Buffer.concat([lengthOf(24), Buffer.from('{"id":1,"call":"status"}')])],
  ["an HTTP request", Buffer.from("GET / HTTP/1.1\r\nHost: x\r\n\r\n")],
];

test.each(NOT_FRAMES)("%s is refused once, and others are served on", async (_what, bytes) => {
  const healthy = await RawClient.greeted(socket);
  const client = await RawClient.open(socket);
  client.socket.write(bytes);
  expect((await client.next())?.error).toMatchObject({ code: "usage" });
  expect(await client.next()).toBeNull();

  healthy.send({ id: 1, call: "status", params: {} });
  expect(await healthy.next()).toMatchObject({ id: 1, result: { running: true } });
  healthy.close();
});

test("a call with wrong parameters is answered with what is wrong; the connection lives", async () => {
  const client = await RawClient.greeted(socket);
  client.send({ id: 1, call: "history", params: { limit: 1 } });
  client.send({ id: 2, call: "constructor", params: {} });
  client.send({ id: 3, call: "ls", params: { here: place(), project: null, all: true, surplus: 1 } });
  client.send({ id: 4, call: "status", params: {} });
  const answers = await client.take(4);
  const byId = new Map(answers.map((answer) => [answer.id, answer]));
  for (const id of [1, 2, 3]) expect(byId.get(id)?.error).toMatchObject({ code: "usage" });
  expect(byId.get(4)).toMatchObject({ result: { running: true } });
  client.close();
});

test.each([
  ["history", { limit: 1 }, "target is missing; it must be an object."],
  ["history", null, "params must be an object."],
  ["ls", { project: 1 }, "here is missing; it must be an object."],
  ["backup", { file: "here.db" }, 'file must be a text that starts with "/".'],
  ["backup", { file: 7 }, "file must be a text."],
  ["backup", { file: `/${"x".repeat(5000)}` }, "file must be at most 4096 characters long."],
  ["backup", { file: "/x", surplus: 1 }, "params has an unknown field surplus."],
  ["redeliver", { id: "-" }, "id must be a text like /^"],
  ["ack", { as: null, nested: false, ids: [], how: "eaten" }, 'how must be one of "read", "injected".'],
  ["ack", { as: null, nested: "no", ids: [], how: "read" }, "nested must be true or false."],
])("%s with %j is told which field is wrong, and what belongs there", async (call, params, problem) => {
  const client = await RawClient.greeted(socket);
  client.send({ id: 1, call, params });
  const told = expect.stringContaining(`Call ${call}: ${problem}`) as string;
  expect((await client.next())?.error).toMatchObject({ code: "usage", message: told });
  client.close();
});

test("frames that arrive byte by byte are understood", async () => {
  const client = await RawClient.greeted(socket);
  const json = Buffer.from('{"id":1,"call":"status","params":{}}');
  for (const byte of Buffer.concat([lengthOf(json.length), json])) {
    await new Promise((resolve) => client.socket.write(Buffer.from([byte]), resolve));
  }
  expect(await client.next()).toMatchObject({ id: 1, result: { running: true } });
  client.close();
});

test("200 calls sent at once on one connection are all answered", async () => {
  const client = await RawClient.greeted(socket);
  const ids = Array.from({ length: 200 }, (_, i) => i + 1);
  for (const id of ids) client.send({ id, call: "status", params: {} });
  const answers = await client.take(ids.length);
  expect(answers.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual(ids);
  client.close();
});

test("a client that reads slowly holds nobody up and still gets every answer", async () => {
  await addWorkers(home, 500);
  const slow = await RawClient.greeted(socket);
  slow.socket.pause();
  const ids = Array.from({ length: 2 * CALLS_IN_FLIGHT_MAX }, (_, i) => i + 1);
  for (const id of ids) slow.send({ id, call: "ls", params: { here: place(), project: null, all: true } });

  const quick = await RawClient.greeted(socket);
  quick.send({ id: 1, call: "status", params: {} });
  expect(await quick.next()).toMatchObject({ id: 1, result: { running: true } });
  quick.close();

  slow.socket.resume();
  const answers = await slow.take(ids.length);
  expect(answers.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual(ids);
  slow.close();
}, 20_000);

test("ls answers for as many workers as a project may have", async () => {
  await addWorkers(home, 20_000);
  const { workers } = await home.json<{ workers?: unknown[] }>(["ls", "--all"]);
  expect(workers).toHaveLength(20_000);
});

test("the state folder and all that is in it is closed to others", async () => {
  await home.perdure(["run", "coder", "--", "true"]);
  const all = ["", "perdure.sock", "perdure.db", "daemon.json", "projects.json", "runs", "logs", "logs/daemon.log"];
  expect(all.filter((name) => (statSync(join(home.state, name)).mode & 0o077) !== 0)).toEqual([]);
});

test("a state folder that others may write to is refused, by client and daemon", async () => {
  const open = join(home.dir, "open");
  mkdirSync(open);
  chmodSync(open, 0o770);
  const env = { ...home.env, PERDURE_HOME: open };
  for (const args of [["ls"], ["daemon", "start"]]) {
    expect(await home.perdure(args, { env })).toMatchObject({
      code: 5,
      stderr: expect.stringContaining("chmod 700") as string,
    });
  }
});

/** Straight into the store, with no daemon there: a fleet of this size would take minutes to start. */
async function addWorkers(where: Home, count: number): Promise<void> {
  await where.perdure(["run", "first", "--", "true"]);
  await where.perdure(["daemon", "stop"]);
  const db = new DatabaseSync(join(where.state, "perdure.db"));
  db.exec(`WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
    INSERT INTO workers (project_id, name, name_key, created_ms, uid)
      SELECT 1, 'worker-' || i, 'worker-' || i, 0, lower(hex(randomblob(16))) FROM n`);
  db.close();
  await where.perdure(["daemon", "start"]);
}

function lengthOf(bytes: number): Buffer {
  const header = Buffer.alloc(4);
  header.writeUInt32BE(bytes);
  return header;
}
