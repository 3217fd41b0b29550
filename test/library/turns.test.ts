import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { RECEIVE_WAIT_MS } from "../../src/limits/index.ts";
import { connect, type AskProgress, type Perdure, type TurnMessage, type TurnServer } from "../../src/index.ts";
import { BIN } from "../support/home.ts";
import { TurnHome } from "../support/turn-home.ts";
import { outputWith, runLibraryProgram } from "./library-program.ts";

// Names that are answered by a function. Each test has a name of its own, in one home.

let home: TurnHome;
let perdure: Perdure;
beforeAll(async () => {
  home = new TurnHome("[workers.agent]\n");
  perdure = await connect({ env: home.env, cwd: home.project });
});
afterAll(async () => {
  await perdure.close();
  await home.clear();
});

/** Looks at once how a server ends: nobody else has, when it rejects. */
function endOf({ ended }: TurnServer): Promise<unknown> {
  return ended.then(
    () => null,
    (error: unknown) => error,
  );
}

async function stateOf(id: string): Promise<string> {
  return home.stateOf(id);
}

it("answers each question in a turn of its own, in order and one at a time, with the mail before it in one piece", async () => {
  await perdure.turns("first", () => "").then((server) => server.stop());
  await perdure.send("first", "note one", { id: "f-note-1" });
  await perdure.send("first", "note two", { id: "f-note-2" });
  const answers = ["f-1", "f-2"].map((id) => perdure.ask("first", `question ${id}`, { id }));
  await expect.poll(() => stateOf("f-2")).toBe("queued");
  const seen: TurnMessage[] = [];
  let atOnce = 0;
  await using server = await perdure.turns("first", async (message) => {
    expect(++atOnce).toBe(1);
    seen.push(message);
    await new Promise((done) => setImmediate(done));
    atOnce--;
    return `answer to ${message.id}`;
  });
  const replies = await Promise.all(answers);
  expect(replies.map(({ from, body, replyTo }) => [from, body, replyTo])).toEqual([
    ["api/first", "answer to f-1", "f-1"],
    ["api/first", "answer to f-2", "f-2"],
  ]);
  const [one, two] = seen.toSorted((a, b) => a.seq - b.seq);
  expect(one?.before.map(({ id }) => id)).toEqual(["f-note-1", "f-note-2"]);
  expect(one?.text).toMatch(
    /^--- (\w{8}): message f-note-1 from operator ---\nnote one\n\n--- \1: message f-note-2 .*\nnote two\n\n--- \1: message f-1 .*\nquestion f-1$/,
  );
  expect(two).toMatchObject({ before: [], text: "question f-2", expectsReply: true });
  await expect.poll(() => stateOf("f-note-2")).toBe("read");
  // Mail alone is a turn, too, whose answer nobody gets.
  await perdure.send("first", "alone", { id: "f-alone" });
  await expect.poll(() => stateOf("f-alone")).toBe("read");
  expect(seen.at(-1)).toMatchObject({ id: "f-alone", expectsReply: false });
  expect(server.lease.address).toBe("api/first");
});

it("ends with what its handler throws, and the next server is offered the message again", async () => {
  const failing = await perdure.turns("fails", () => {
    throw new Error("out of paper");
  });
  const ended = endOf(failing);
  await perdure.send("fails", "a note", { id: "x-note" });
  const asked = perdure.ask("fails", "well?", { id: "x-1" });
  expect(await ended).toEqual(new Error("out of paper"));
  expect(["queued", "offered"]).toContain(await stateOf("x-note"));
  await using server = await perdure.turns("fails", ({ id, before }) => `${before.length} before ${id}`);
  expect((await asked).body).toMatch(/ before x-1$/);
  expect(server.lease.generation).toBe(2);
  await expect.poll(() => stateOf("x-note")).toBe("read");
});

it("takes no silence for an answer", async () => {
  const silent = await perdure.turns("silent", () => undefined);
  const ended = endOf(silent);
  const asked = perdure.ask("silent", "well?", { id: "s-1" });
  expect(await ended).toMatchObject({ code: "usage", message: expect.stringContaining("s-1") as string });
  await using next = await perdure.turns("silent", () => "at last");
  expect(next.lease.generation).toBe(2);
  expect((await asked).body).toBe("at last");
});

it("lets the turn under way answer when it is stopped, and takes no other", async () => {
  const begun = Promise.withResolvers<void>();
  const go = Promise.withResolvers<string>();
  const server = await perdure.turns("stops", () => {
    begun.resolve();
    return go.promise;
  });
  const asked = perdure.ask("stops", "one");
  await begun.promise;
  await perdure.send("stops", "two", { id: "stop-2" });
  const stopped = server.stop();
  go.resolve("done");
  expect((await asked).body).toBe("done");
  await stopped;
  await server.ended;
  expect(await stateOf("stop-2")).toBe("queued");
  // The name is free, and a server that waits for mail is stopped at once.
  const next = await perdure.turns("stops", () => "");
  await expect.poll(() => stateOf("stop-2")).toBe("read");
  const before = performance.now();
  await next.stop();
  expect(performance.now() - before).toBeLessThan(RECEIVE_WAIT_MS / 2);
});

it("goes on where a message was cancelled in its turn", async () => {
  await perdure.turns("cancels", () => "").then((server) => server.stop());
  await perdure.send("cancels", "never mind", { id: "c-note" });
  const asked = perdure.ask("cancels", "well?", { id: "c-1" });
  await expect.poll(() => stateOf("c-1")).toBe("queued");
  await using server = await perdure.turns("cancels", async ({ id }) => {
    if (id !== "c-1") return "";
    await perdure.send("cancels", "later", { id: "c-later" });
    expect((await home.perdure(["cancel", "c-note"])).code).toBe(0);
    return "fine";
  });
  expect((await asked).body).toBe("fine");
  await expect.poll(() => stateOf("c-later")).toBe("read");
  expect(await stateOf("c-note")).toBe("cancelled");
  await server.stop();
});

it("ends when its name is taken over; what its handler still returns is sent by nobody", async () => {
  const begun = Promise.withResolvers<AbortSignal>();
  const server = await perdure.turns("taken", async ({ signal }) => {
    begun.resolve(signal);
    await once(signal, "abort");
    return "too late";
  });
  const ended = endOf(server);
  const asked = perdure.ask("taken", "well?");
  const signal = await begun.promise;
  expect((await home.perdure(["takeover", "taken"])).code).toBe(0);
  expect(await ended).toMatchObject({ code: "displaced", message: expect.stringContaining("operator") as string });
  expect(signal.aborted).toBe(true);
  await using next = await perdure.turns("taken", () => "from the next");
  expect(next.lease.generation).toBeGreaterThan(server.lease.generation);
  expect((await asked).body).toBe("from the next");
});

it("goes on over a daemon that is killed, in a turn and between turns", async () => {
  const counts = new Map<string, number>();
  await using server = await perdure.turns("outlives", async ({ id, body }) => {
    counts.set(id, (counts.get(id) ?? 0) + 1);
    if (body === "kill it") await home.killDaemon();
    return `heard ${body}`;
  });
  expect((await perdure.ask("outlives", "kill it", { id: "o-1" })).body).toBe("heard kill it");
  expect((await perdure.ask("outlives", "again", { id: "o-2" })).body).toBe("heard again");
  await home.killDaemon();
  expect((await perdure.ask("outlives", "between", { id: "o-3" })).body).toBe("heard between");
  expect([...counts.values()]).toEqual([1, 1, 1]);
  await server.stop();
});

it("an asker is told how its question gets on", async () => {
  await home.up();
  const all: AskProgress[] = [];
  const { body } = await perdure.ask("agent", "[[tool Bash]] [[say the final word]] go", {
    onProgress: (each) => all.push(each),
  });
  expect(body).toBe("the final word");
  const progress = all.filter(({ kind }) => kind !== "worker");
  expect(all).toContainEqual(
    expect.objectContaining({ kind: "worker", name: "agent", state: "asleep", question: "queued", staysDown: false }),
  );
  const kinds = progress.map(({ kind }) => kind);
  expect(kinds.slice(0, 2)).toEqual(["queued", "started"]);
  expect(progress[0]).toEqual({ kind: "queued", outlook: "in a turn of its own" });
  expect(progress).toContainEqual({ kind: "tool", name: "Bash" });
  expect(progress).toContainEqual({ kind: "text", text: expect.stringContaining("the final word") as string });
});

it("an asker is told that the turn goes on when a new daemon has taken it up", async () => {
  await home.up();
  await home.untilAsleep("agent");
  const progress: AskProgress[] = [];
  const { hold, open } = home.gate();
  const asked = perdure.ask("agent", `[[tool Bash]] ${hold} [[say after all]]`, {
    onProgress: (each) => void (each.kind !== "worker" && progress.push(each)),
  });
  await expect.poll(() => progress.map(({ kind }) => kind)).toContain("tool");
  const before = progress.length;
  await home.killDaemon();
  await expect.poll(() => progress.length, { timeout: 20_000 }).toBeGreaterThan(before);
  open();
  expect((await asked).body).toBe("after all");
  const [, started] = progress;
  expect(progress[before]).toEqual(started);
  expect(progress.slice(before).map(({ kind }) => kind)).not.toContain("queued");
});

// The stand-in for Pi keeps a conversation in its session file, as Pi does, and says how many turns it has had.
const PI = `#!/bin/sh
[ "$1" = -p ] && [ "$2" = --session ] || exit 2
echo "$4" >> "$3"
while [ -e hold ]; do sleep 0.05; done
case "$4" in *fail*) echo "no credit" >&2; exit 1;; esac
echo "turn $(wc -l < "$3" | tr -d ' ') of $GSD_SESSION_ID: $4"
`;

it("seed 003: a message in, a turn in the conversation of its session, the answer out, over restarts", async () => {
  const bin = join(home.dir, "pi-bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "pi"), PI);
  chmodSync(join(bin, "pi"), 0o755);
  symlinkSync(BIN, join(bin, "perdure"));
  const env = { ...home.env };
  home.env.PATH = `${bin}:${env.PATH}`;
  const source = readFileSync(resolve(import.meta.dirname, "../../examples/pi-turns.js"), "utf8");
  expect(source.trimEnd().split("\n").length).toBeLessThanOrEqual(40);
  const ask = async (text: string): Promise<string> => (await perdure.ask("tasks", text)).body;

  const first = runLibraryProgram(home, source);
  await outputWith(first, "api/tasks is ready");
  // A key per session id, and two messages at once: one turn at a time, each in its own conversation.
  expect(await ask("gsd-1 hello")).toBe("turn 1 of gsd-1: hello");
  const both = await Promise.all([ask("gsd-1 go on"), ask("gsd-2 hello")]);
  expect(both).toEqual(["turn 2 of gsd-1: go on", "turn 1 of gsd-2: hello"]);
  // A stale id, which was never seen here, begins a conversation of its own; a failure is told.
  expect(await ask("gsd-old still there?")).toBe("turn 1 of gsd-old: still there?");
  expect(await ask("gsd-2 fail")).toBe("failed: no credit");

  // Killed in the middle of a turn, then started again.
  writeFileSync(join(home.project, "hold"), "");
  const interrupted = ask("gsd-1 the long one");
  const folder = join(home.state, "pi-sessions");
  const file = join(folder, readdirSync(folder).find((name) => name.includes("gsd-1")) ?? "");
  await expect.poll(() => readFileSync(file, "utf8")).toContain("the long one");
  first.kill("SIGKILL");
  await once(first, "close");
  const second = runLibraryProgram(home, source);
  await outputWith(second, "api/tasks is ready");
  rmSync(join(home.project, "hold"));
  // Pi itself outlived the kill, so the turn was made twice, in the same conversation; it is answered once.
  expect(await interrupted).toBe("turn 4 of gsd-1: the long one");

  // A polite restart between two messages.
  second.kill("SIGTERM");
  await once(second, "close");
  expect(existsSync(file)).toBe(true);
  const waiting = ask("gsd-2 after the restart");
  const third = runLibraryProgram(home, source);
  expect(await waiting).toBe("turn 3 of gsd-2: after the restart");
  third.kill("SIGTERM");
  expect((await once(third, "close"))[0]).toBe(0);
});
