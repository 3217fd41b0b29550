import { readFileSync, readlinkSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Stage, type Talk } from "./stage.ts";

const UNKNOWN = "01a1e187-0000-7000-8000-000000000000";

let stage: Stage;
beforeEach(() => {
  stage = new Stage("codex");
});
afterEach(() => stage.clear());

interface Message {
  id?: number;
  result?: { thread?: { id: string } };
  error?: object;
}

/** Opens and names a conversation as a client of the real one does. */
async function mint(name: string): Promise<string> {
  const talk = stage.open(["app-server"]);
  await call(talk, 1, "initialize", { clientInfo: { name: "test", version: "1" } });
  talk.type(JSON.stringify({ method: "initialized" }));
  const { result } = await call(talk, 2, "thread/start", { cwd: stage.work });
  const id = result?.thread?.id ?? "";
  expect(rollouts()).not.toContainEqual(expect.stringContaining(id));
  expect(await call(talk, 3, "thread/name/set", { threadId: id, name })).toEqual({ id: 3, result: {} });
  expect(await talk.end()).toMatchObject({ code: 0, stderr: "" });
  return id;
}

async function call(talk: Talk, id: number, method: string, params: object): Promise<Message> {
  talk.type(JSON.stringify({ id, method, params }));
  for (;;) {
    const message = JSON.parse((await talk.until(/(.*)\n/))[1] ?? "") as Message;
    if (message.id === id) return message;
  }
}

function rollouts(): string[] {
  return stage.files(".codex/sessions");
}

function rolloutOf(id: string): string {
  return rollouts().find((file) => file.endsWith(`-${id}.jsonl`)) ?? "";
}

function lockOf(id: string): string {
  return join(stage.home, ".codex/thread-writer-locks", `${id}.lock`);
}

/** Who holds the lock, as the kernel lists it. */
function writers(id: string): number[] {
  const { ino } = statSync(lockOf(id));
  const held = readFileSync("/proc/locks", "utf8").matchAll(/FLOCK +ADVISORY +WRITE (\d+) \w+:\w+:(\d+) /g);
  return [...held].filter(([, , node]) => Number(node) === ino).map(([, pid]) => Number(pid));
}

function openLocks(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder)
    .map((fd) => readlinkSync(join(folder, fd)))
    .filter((file) => file.endsWith(".lock"));
}

/** Would a child have it open too, and hold the lock after this process? */
function inheritable(pid: number, file: string): boolean {
  const fd = readdirSync(`/proc/${pid}/fd`).find((each) => readlinkSync(`/proc/${pid}/fd/${each}`) === file);
  const flags = /flags:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/fdinfo/${fd}`, "utf8"))?.[1] ?? "";
  const CLOSE_ON_EXEC = 0o2000000;
  return (parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
}

test("a conversation opened by the app server is resumed by its id, from any folder", async () => {
  const id = await mint("coder");
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(rolloutOf(id)).toMatch(
    /^\.codex\/sessions\/\d{4}\/\d\d\/\d\d\/rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-[0-9a-f-]{36}\.jsonl$/,
  );
  expect(stage.lines(rolloutOf(id))).toMatchObject([
    { type: "session_meta", payload: { id, session_id: id, cwd: stage.work, cli_version: "0.166.0" } },
  ]);

  const talk = stage.open(["--no-daemon", "resume", "-c", "model_provider=x", id, "hello"], { cwd: stage.home });
  expect(await talk.answer()).toContain("history: 0 turns");
  expect(await talk.answer()).toBe("turns=1 first=hello last=hello");
  await talk.end();
  expect((await stage.run(["exec", "--json", "resume", "-m", "m", id, "more"])).stdout).toContain(
    "turns=2 first=hello last=more",
  );
  expect(stage.lines(rolloutOf(id)).slice(1)).toMatchObject([
    { type: "response_item", payload: { role: "user", content: [{ type: "input_text", text: "hello" }] } },
    { type: "response_item", payload: { role: "assistant", content: [{ type: "output_text" }] } },
    { type: "response_item", payload: { role: "user" } },
    { type: "response_item", payload: { role: "assistant" } },
  ]);
  expect(rollouts()).toHaveLength(1);
});

test("the app server refuses what comes too early and what it does not know", async () => {
  const talk = stage.open(["app-server"]);
  expect(await call(talk, 1, "thread/start", {})).toMatchObject({ error: { message: "Not initialized" } });
  await call(talk, 2, "initialize", {});
  expect(await call(talk, 3, "nope", {})).toMatchObject({ error: { code: -32600 } });
  expect(await call(talk, 4, "thread/name/set", { threadId: UNKNOWN, name: "x" })).toMatchObject({
    error: { message: `no rollout found for thread id ${UNKNOWN}` },
  });
  await talk.end();
});

test("one writer: held from the launch by the process itself, refused to a second, free after a kill", async () => {
  const id = await mint("coder");
  const talk = stage.open(["--no-daemon", "resume", id]);
  await talk.answer();
  expect(writers(id)).toEqual([talk.pid]);
  expect(openLocks(talk.pid)).toEqual([lockOf(id)]);
  expect(readFileSync(`/proc/${talk.pid}/cmdline`, "utf8").split("\0")[0]).toBe("codex");

  for (const args of [
    ["resume", id],
    ["exec", "resume", id, "x"],
  ]) {
    expect(await stage.run(args)).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining(`thread ${id} already has an active writer`) as string,
    });
  }
  talk.kill("SIGKILL");
  await talk.ended;
  expect((await stage.run(["exec", "resume", id, "x"])).stdout).toBe("turns=1 first=x last=x\n");
});

test("a new conversation is locked before it has a file, and no child inherits the lock", async () => {
  const talk = stage.open([]);
  const id = /session +([0-9a-f-]{36})/.exec(await talk.answer())?.[1] ?? "";
  expect(writers(id)).toEqual([talk.pid]);
  expect(inheritable(talk.pid, lockOf(id))).toBe(false);
  expect(rollouts()).toEqual([]);
  expect(await talk.say("/print inner")).toContain("turns=1 first=inner");
  expect(rollouts()).toHaveLength(1);
  await talk.say("hello");
  expect(rolloutOf(id)).not.toBe("");
  talk.kill("SIGTERM");
  expect(await talk.ended).toMatchObject({ code: 143 });
  expect(writers(id)).toEqual([]);
});

test("/new takes another lock beside the first", async () => {
  const talk = stage.open([]);
  const first = /session +([0-9a-f-]{36})/.exec(await talk.answer())?.[1] ?? "";
  const second = /session ([0-9a-f-]{36})/.exec(await talk.say("/new"))?.[1] ?? "";
  expect(second).not.toBe(first);
  expect(openLocks(talk.pid).toSorted()).toEqual([lockOf(first), lockOf(second)].toSorted());
  await talk.say("hello");
  expect(await stage.run(["exec", "resume", second, "x"])).toMatchObject({ code: 1 });
  await talk.end();
  expect(await stage.run(["exec", "resume", second, "x"])).toMatchObject({ code: 0 });
});

test("exec --json: the thread first, the end of the turn last", async () => {
  const { code, stdout } = await stage.run(["exec", "--json", "--skip-git-repo-check"], { input: "from stdin\n" });
  const events = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(code).toBe(0);
  expect(events.map(({ type }) => type)).toEqual([
    "thread.started",
    "turn.started",
    "item.completed",
    "turn.completed",
  ]);
  expect(events[2]).toMatchObject({
    item: { type: "agent_message", text: "turns=1 first=from stdin last=from stdin" },
  });
  expect(rolloutOf(String(events[0]?.thread_id))).not.toBe("");
});

test("an unknown id is refused; an unknown name silently begins another conversation", async () => {
  const id = await mint("coder");
  expect(await stage.run(["exec", "resume", UNKNOWN, "x"])).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining(`no rollout found for thread id ${UNKNOWN}`) as string,
  });
  expect(rollouts()).toHaveLength(1);
  expect(await stage.run(["exec", "--json", "resume", "coder", "x"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(id) as string,
  });
  expect(await stage.run(["exec", "--json", "resume", "nobody", "x"])).toMatchObject({
    code: 0,
    stdout: expect.not.stringContaining(id) as string,
  });
  expect(rollouts()).toHaveLength(2);
});

test.each([
  ["an empty file", ""],
  ["garbage", "\0garbage\n{half"],
])("%s cannot be resumed", async (_what, text) => {
  const id = await mint("coder");
  writeFileSync(join(stage.home, rolloutOf(id)), text);
  expect(await stage.run(["exec", "resume", id, "x"])).toMatchObject({ code: 1, stdout: "" });
  expect(readFileSync(join(stage.home, rolloutOf(id)), "utf8")).toBe(text);
});

test("wrong-id and late happen once, although it is exec'd twice", async () => {
  const id = await mint("coder");
  const began = performance.now();
  const { stdout } = await stage.run(["exec", "--json", "--script", "late 300; wrong-id", "resume", id, "x"]);
  expect(performance.now() - began).toBeGreaterThanOrEqual(300);
  expect(stdout).not.toContain(id);
  expect(stdout.match(/thread\.started/g)).toHaveLength(1);
  expect(stdout).toContain("turns=1 first=x");
  expect(stage.files(".codex/thread-writer-locks")).toHaveLength(2);
});

test.each([
  [["--bogus"], "unexpected argument '--bogus' found"],
  [["resume"], "no session"],
])("%j: exit 2", async (args, words) => {
  expect(await stage.run(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(words) as string });
});

test("CODEX_HOME moves everything", async () => {
  await stage.run(["exec", "hi"], { env: { CODEX_HOME: join(stage.home, "elsewhere") } });
  expect(stage.files("elsewhere/sessions")).toHaveLength(1);
  expect(stage.files("elsewhere/thread-writer-locks")).toHaveLength(1);
  expect(stage.files(".codex")).toEqual([]);
});
