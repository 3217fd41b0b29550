import { createInterface } from "node:readline";
import { on } from "node:events";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { EventRecord } from "../../../src/protocol/records/admin.ts";
import { Home } from "../../support/home.ts";

// The documents that others build on: every field of the contract is there, with its type.

const home = new Home();
const text = expect.any(String) as string;
const number = expect.any(Number) as number;
const uid = expect.stringMatching(/^[0-9a-f]{32}$/) as string;
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
const runId = (worker: string): string =>
  expect.stringMatching(new RegExp(`^[\\w-]+\\.api\\.${worker}\\.\\d+$`)) as string;

const worker = (name: string): object => ({
  address: `api/${name}`,
  uid,
  project: "api",
  projectUid: uid,
  name,
  vendor: null,
  unproved: null,
  mode: "foreground",
  generation: 1,
  session: null,
  unread: 0,
  unanswered: 0,
  restarts: 0,
  attention: null,
  folder: home.project,
});
const running = {
  ...worker("busy"),
  lastEnd: null,
  state: "running",
  run: { id: runId("busy"), pid: number, startedAt: time },
};
const lastEnd = { reason: "exited", exit: 3, at: time };
const stopped = { ...worker("done"), lastEnd, state: "stopped", run: null };

beforeAll(async () => {
  await home.perdure(["run", "done", "--", "sh", "-c", "exit 3"]);
  await home.start("busy", ["sleep", "600"]);
  await home.until("done", ({ state }) => state === "stopped");
});
afterAll(() => home.clear());

test("ls lists each worker with all the fields of the contract", async () => {
  expect(await home.json(["ls"])).toEqual({ schemaVersion: 1, workers: [running, stopped] });
});

test("show has the fields of ls and how the worker would be started", async () => {
  expect(await home.json(["show", "busy"])).toEqual({
    schemaVersion: 1,
    ...running,
    createdAt: time,
    command: ["sleep", "600"],
    cwd: home.project,
    environmentScope: "known",
    environment: expect.arrayContaining(["HOME", "LANG", "PATH", "TERM"]) as string[],
    formerNames: [],
    conversation: null,
    processes: expect.arrayContaining([{ pid: number, command: text }]) as object[],
    lastRun: expect.objectContaining({ id: runId("busy"), endedAt: null, exit: null, reason: null }) as object,
  });
});

test("values of the environment are never printed", async () => {
  await home.perdure(["run", "secretive", "--", "true"], { env: { ...home.env, ANTHROPIC_API_KEY: "sk-very-secret" } });
  const outputs = await Promise.all(
    [
      ["show", "secretive"],
      ["show", "secretive", "--json"],
      ["events", "--json"],
      ["doctor", "--json"],
    ].map((args) => home.perdure(args)),
  );
  expect(outputs[1]?.stdout).toContain("ANTHROPIC_API_KEY");
  for (const { stdout, stderr } of outputs) expect(stdout + stderr).not.toContain("sk-very-secret");
  await home.perdure(["retire", "secretive"]);
});

test("history lists runs, newest first, and the lineage of sessions", async () => {
  expect(await home.json(["history", "done"])).toEqual({
    schemaVersion: 1,
    address: "api/done",
    sessions: [],
    runs: [
      {
        id: runId("done"),
        generation: 1,
        startedAt: time,
        endedAt: time,
        exit: 3,
        reason: "exited",
        sessionId: null,
        sessions: [],
        pid: number,
        displacedBy: null,
      },
    ],
  });
});

test("whoami has the fields of the contract", async () => {
  expect(await home.json(["whoami", "--as", "coder"])).toMatchObject({
    schemaVersion: 1,
    address: "api/coder",
    project: "api",
    name: "coder",
    source: "flag",
    durable: true,
    run: null,
    generation: null,
  });
});

test("daemon status tells whether it runs, its pid and for how long", async () => {
  const status = await home.json(["daemon", "status"]);
  expect(status).toMatchObject({
    schemaVersion: 1,
    running: true,
    pid: home.daemonPid(),
    uptimeMs: number,
    liveRuns: 1,
  });
});

test("events are one JSON object a line, numbered, oldest first", async () => {
  const { stdout } = await home.perdure(["events", "done", "--json"]);
  const events = lines(stdout);
  expect(events.map(({ type }) => type)).toEqual(["worker.created", "run.claimed", "run.ended"]);
  expect(events[2]).toEqual({
    seq: number,
    at: time,
    type: "run.ended",
    project: "api",
    projectUid: uid,
    worker: "done",
    workerUid: uid,
    run: runId("done"),
    generation: 1,
    data: { exit: 3, reason: "exited" },
  });
  expect(events.map(({ seq }) => seq)).toEqual(events.map(({ seq }) => seq).toSorted((a, b) => a - b));

  const { stdout: later } = await home.perdure(["events", "done", "--after", String(events[1]?.seq), "--json"]);
  expect(lines(later).map(({ type }) => type)).toEqual(["run.ended"]);
});

test("events -f streams what happens from now on", async () => {
  const stream = home.spawn(["events", "-f", "--json", "--limit", "1"]);
  const reader = createInterface({ input: stream.stdout! });
  const seen: string[] = [];
  let started = false;
  for await (const [line] of on(reader, "line") as AsyncIterable<[string]>) {
    const event = JSON.parse(line) as EventRecord;
    if (!started) {
      started = true; // the last event of the past: it listens now
      void home.perdure(["run", "streamed", "--", "true"]);
    }
    if (event.worker === "streamed") seen.push(event.type);
    if (event.type === "run.ended") break;
  }
  expect(seen).toEqual(["worker.created", "run.claimed", "run.ended"]);
});

test("events -f in a folder without workers waits for the first one", async () => {
  const elsewhere = { cwd: home.dir };
  const stream = home.spawn(["events", "-f", "--json"], elsewhere);
  const first = new Promise<string>((resolve) => {
    createInterface({ input: stream.stdout! })
      .once("line", resolve)
      .once("close", () => resolve("closed"));
  });
  const begun = await home.perdure(["daemon", "status"]);
  expect(begun.code).toBe(0);
  await home.perdure(["run", "pioneer", "--", "true"], elsewhere);
  expect(await first).toContain("registered");
});

test("every verb that only looks answers with one document", async () => {
  for (const args of [[], ["project"], ["project", "ls"], ["doctor"], ["help"], ["help", "run"], ["--version"]]) {
    expect(await home.json<object>(args)).toMatchObject({ schemaVersion: 1 });
  }
});

function lines(stdout: string): EventRecord[] {
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as EventRecord);
}
