import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { call, CodexHome } from "./codex-home.ts";

const UNKNOWN = "01a1e187-0000-7000-8000-000000000000";

let home: CodexHome;
beforeEach(() => {
  home = new CodexHome();
});
afterEach(() => home.clear());

test("starting a thread writes nothing; naming it does", async () => {
  const talk = home.open(["app-server"]);
  await call(talk, 1, "initialize", {});
  const { result } = await call(talk, 2, "thread/start", { cwd: home.work });
  const id = result?.thread?.id ?? "";
  expect(home.rollouts()).toEqual([]);
  expect(await call(talk, 3, "thread/name/set", { threadId: id, name: "coder" })).toEqual({ id: 3, result: {} });
  expect(home.rollouts()).toEqual([expect.stringContaining(id)]);
  expect(home.lines(".codex/session_index.jsonl")).toMatchObject([{ id, thread_name: "coder" }]);
  expect(await talk.end()).toMatchObject({ code: 0, stderr: "" });
});

test("a conversation opened by the app server is resumed by its id, from any folder", async () => {
  const id = await home.mint("coder");
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(home.rolloutOf(id)).toMatch(
    /^\.codex\/sessions\/\d{4}\/\d\d\/\d\d\/rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-[0-9a-f-]{36}\.jsonl$/,
  );
  expect(home.lines(home.rolloutOf(id))).toMatchObject([
    { type: "session_meta", payload: { id, session_id: id, cwd: home.work, cli_version: "0.166.0" } },
  ]);

  const talk = home.open(["--no-daemon", "resume", "-c", "model_provider=x", id, "hello"], { cwd: home.dir });
  expect(await talk.answer()).toContain("history: 0 turns");
  expect(await talk.answer()).toBe("turns=1 first=hello last=hello");
  await talk.end();
  expect((await home.run(["exec", "--json", "resume", "-m", "m", id, "more"])).stdout).toContain(
    "turns=2 first=hello last=more",
  );
  expect(home.lines(home.rolloutOf(id)).slice(1)).toMatchObject([
    { type: "response_item", payload: { role: "user", content: [{ type: "input_text", text: "hello" }] } },
    { type: "response_item", payload: { role: "assistant", content: [{ type: "output_text" }] } },
    { type: "response_item", payload: { role: "user" } },
    { type: "response_item", payload: { role: "assistant" } },
  ]);
  expect(home.rollouts()).toHaveLength(1);
});

test("the app server refuses what comes too early and what it does not know", async () => {
  const talk = home.open(["app-server"]);
  expect(await call(talk, 1, "thread/start", {})).toMatchObject({ error: { message: "Not initialized" } });
  await call(talk, 2, "initialize", {});
  expect(await call(talk, 3, "nope", {})).toMatchObject({ error: { code: -32600 } });
  expect(await call(talk, 4, "thread/name/set", { threadId: UNKNOWN, name: "x" })).toMatchObject({
    error: { message: `no rollout found for thread id ${UNKNOWN}` },
  });
  await talk.end();
});

test("exec --json: the thread first, the end of the turn last", async () => {
  const { code, stdout } = await home.run(["exec", "--json", "--skip-git-repo-check"], { input: "from stdin\n" });
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
  expect(home.rolloutOf(String(events[0]?.thread_id))).not.toBe("");
});

test("an unknown id is refused; an unknown name silently begins another conversation", async () => {
  const id = await home.mint("coder");
  expect(await home.run(["exec", "resume", UNKNOWN, "x"])).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining(`no rollout found for thread id ${UNKNOWN}`) as string,
  });
  expect(home.rollouts()).toHaveLength(1);
  expect(await home.run(["exec", "--json", "resume", "coder", "x"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(id) as string,
  });
  expect(await home.run(["exec", "--json", "resume", "nobody", "x"])).toMatchObject({
    code: 0,
    stdout: expect.not.stringContaining(id) as string,
  });
  expect(home.rollouts()).toHaveLength(2);
});

test.each([
  ["an empty file", ""],
  ["garbage", "\0garbage\n{half"],
])("%s cannot be resumed", async (_what, text) => {
  const id = await home.mint("coder");
  writeFileSync(join(home.dir, home.rolloutOf(id)), text);
  expect(await home.run(["exec", "resume", id, "x"])).toMatchObject({ code: 1, stdout: "" });
  expect(readFileSync(join(home.dir, home.rolloutOf(id)), "utf8")).toBe(text);
});

test("wrong-id and late happen once, although the agent is exec'd twice", async () => {
  const id = await home.mint("coder");
  const began = performance.now();
  const { stdout } = await home.run(["exec", "--json", "--script", "late 300; wrong-id", "resume", id, "x"]);
  expect(performance.now() - began).toBeGreaterThanOrEqual(300);
  expect(stdout).not.toContain(id);
  expect(stdout.match(/thread\.started/g)).toHaveLength(1);
  expect(stdout).toContain("turns=1 first=x");
  expect(home.files(".codex/thread-writer-locks")).toHaveLength(2);
});

test.each([
  [["--bogus"], "unexpected argument '--bogus' found"],
  [["resume"], "no session"],
])("%j: exit 2", async (args, words) => {
  expect(await home.run(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(words) as string });
});

test("CODEX_HOME moves everything", async () => {
  await home.run(["exec", "hi"], { env: { CODEX_HOME: join(home.dir, "elsewhere") } });
  expect(home.files("elsewhere/sessions")).toHaveLength(1);
  expect(home.files("elsewhere/thread-writer-locks")).toHaveLength(1);
  expect(home.files(".codex")).toEqual([]);
});
