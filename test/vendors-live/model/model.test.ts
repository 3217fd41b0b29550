import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ask, type Said } from "./ask.ts";
import { startModel, type Model } from "./index.ts";
import type { WireName } from "./wire.ts";

let model: Model;

beforeEach(async () => {
  model = await startModel();
});

afterEach(async () => {
  await model.close();
});

const WIRES: WireName[] = ["anthropic", "responses", "chat", "gemini"];
const HISTORY: Said[] = [{ user: "one" }, { assistant: "turns=1" }, { user: "two" }];
const WISH = 'go [[tool look {"at":"[[1]]"}]]';
const CALL: Said = { call: "look", input: { at: "[[1]]" } };

describe.each(WIRES)("%s", (wire) => {
  test.each([true, false])("tells what it has seen (stream: %s)", async (stream) => {
    expect(await ask(model, wire, [{ user: "one" }], { stream })).toBe("turns=1 first=one last=one");
    expect(await ask(model, wire, HISTORY, { stream })).toBe("turns=2 first=one last=two");
    expect(model.requests.map(({ turns }) => turns)).toEqual([["one"], ["one", "two"]]);
    expect(model.requests[1]).toMatchObject({ index: 1, wire, stream, model: "m", auxiliary: false });
    expect(model.requests[1]?.messages[0]).toEqual({ role: "system", texts: ["be good"] });
  });

  test.each([true, false])("calls a tool, and answers when it has the result (stream: %s)", async (stream) => {
    const said: Said[] = [...HISTORY, { user: WISH }];
    expect(await ask(model, wire, said, { stream })).toBe('look {"at":"[[1]]"}');
    const answer = await ask(model, wire, [...said, CALL, { result: "seen" }], { stream });
    expect(answer).toBe(`turns=3 first=one last=${WISH} tool=seen`);
    expect(model.requests.at(-1)?.results).toEqual(["seen"]);
  });

  test.each([true, false])("says something before a call, if it is told to (stream: %s)", async (stream) => {
    const said: Said[] = [{ user: `[[before I look.]] ${WISH}` }];
    expect(await ask(model, wire, said, { stream })).toBe('I look.look {"at":"[[1]]"}');
  });

  test.each([true, false])("answers without a word, if it is told to (stream: %s)", async (stream) => {
    expect(await ask(model, wire, [{ user: "[[empty]]" }], { stream })).toBe("");
  });

  test("calls several tools one after the other", async () => {
    const said: Said[] = [{ user: '[[tool look {"at":1}]] and [[tool touch {"at":2}]]' }];
    const tools = ["look", "touch"];
    expect(await ask(model, wire, said, { tools })).toBe('look {"at":1}');
    said.push({ call: "look", input: { at: 1 } }, { result: "a" });
    expect(await ask(model, wire, said, { tools })).toBe('touch {"at":2}');
  });

  test.each([true, false])("holds an answer until it is let go (stream: %s)", async (stream) => {
    let answered = false;
    const answer = ask(model, wire, [{ user: "wait [[hold]]" }], { stream }).finally(() => (answered = true));
    await model.until(({ turns }) => turns.at(-1) === "wait [[hold]]");
    await ask(model, wire, HISTORY);
    expect(answered).toBe(false);
    model.release();
    expect(await answer).toBe("turns=1 first=wait [[hold]] last=wait [[hold]]");
  });

  test("holds the first answer to a turn only, if that is what it is told", async () => {
    const said: Said[] = [{ user: "wait [[hold once]]" }];
    const first = ask(model, wire, said);
    await model.until(({ turns }) => turns.at(-1) === "wait [[hold once]]");
    const answer = "turns=1 first=wait [[hold once]] last=wait [[hold once]]";
    expect(await ask(model, wire, said)).toBe(answer);
    expect(await ask(model, wire, [{ user: "again:\nwait [[hold once]]\nmark-2" }])).toContain("mark-2");
    model.release();
    expect(await first).toBe(answer);
  });

  test("fails as it is told", async () => {
    expect(await ask(model, wire, [{ user: "[[fail 401]]" }])).toBe(401);
    expect(await ask(model, wire, [{ user: "[[fail 529]]" }], { stream: false })).toBe(529);
    expect(await ask(model, wire, [{ user: "[[fail 401]]" }, { assistant: "sorry" }, { user: "again" }])).toContain(
      "turns=2",
    );
  });
});

const ADDED = [
  "<system-reminder>\nsome rules\n</system-reminder>",
  '<environment_context kind="x">\n<cwd>/x</cwd></environment_context>',
  "# AGENTS.md instructions for /x\n\nbe good",
  "<command-name>/clear</command-name>",
  "Stop hook feedback:\nthere is mail",
];

test.each(ADDED)("what a program adds is no turn: %j", async (added) => {
  await ask(model, "anthropic", [{ user: added }, { user: `${added.startsWith("<") ? added : ""}\n\nmine` }]);
  expect(model.requests[0]?.turns).toEqual(["mine"]);
  expect(model.requests[0]?.messages.flatMap(({ texts }) => texts)).toContain(added);
});

const SEALED = "perdure mail (m-0123456789abcdef) for api/w:\n\nMessage x";

test("mail is a turn where it came alone, and none beside a prompt", async () => {
  const wrapped = `<hook_prompt id="1">${SEALED}</hook_prompt>`;
  const introduced = `You are api/w, a worker that perdure keeps: so it is.\n\n${SEALED}`;
  await ask(model, "chat", [{ user: SEALED }, { user: "one" }, { assistant: "yes" }, { user: wrapped }]);
  expect(model.requests[0]?.turns).toEqual(["one", `${SEALED}</hook_prompt>`]);
  await ask(model, "chat", [{ user: "one" }, { user: introduced }, { assistant: "yes" }, { user: SEALED }]);
  expect(model.requests[1]?.turns).toEqual(["one", SEALED]);
});

test("a program's own questions are marked, whatever they quote, and answered", async () => {
  const title: Said[] = [{ user: "Generate a concise, single-line task title.\n\nUser prompt:\none [[hold]]" }];
  expect(await ask(model, "responses", title)).toBe("A made-up title");
  expect(await ask(model, "chat", [{ user: "one [[hold]]" }], { tools: [] })).toBe("A made-up title");
  expect(model.requests.map(({ auxiliary }) => auxiliary)).toEqual([true, true]);
  expect(await ask(model, "chat", [{ user: "Do not generate a concise title." }])).toContain("turns=1");
});

test("a request with one tool only is answered by filling in that tool's form", async () => {
  const properties = { block: { type: "boolean" }, why: { type: "string" } };
  const tool = { type: "function", function: { name: "respond", parameters: { type: "object", properties } } };
  const messages = [{ role: "system", content: "You are a security classifier for an agent." }];
  const body = JSON.stringify({ model: "m", messages, tools: [tool] });
  const answer = await (await fetch(`${model.url}/v1/chat/completions`, { method: "POST", body })).text();
  expect(answer).toContain(JSON.stringify(JSON.stringify({ block: false, why: "A made-up title" })));
});

test("a tool of a group is called by both names", async () => {
  const tools = [{ type: "namespace", name: "mcp__perdure__", tools: [{ type: "function", name: "send" }] }];
  const body = JSON.stringify({ model: "m", input: '[[tool mcp__perdure__send {"to":"bob"}]]', tools });
  const answer: unknown = await (await fetch(`${model.url}/v1/responses`, { method: "POST", body })).json();
  const call = { type: "function_call", namespace: "mcp__perdure__", name: "send", arguments: '{"to":"bob"}' };
  expect(answer).toMatchObject({ output: [call] });
});

test("an error has the provider's word for it, and says when to ask again", async () => {
  const body = (text: string): string =>
    JSON.stringify({ model: "m", messages: [{ role: "user", content: text }], tools: [{ function: { name: "x" } }] });
  const asked = (text: string): Promise<Response> =>
    fetch(`${model.url}/v1/chat/completions`, { method: "POST", body: body(text) });
  const told = await asked("[[fail 429 insufficient_quota 60]]");
  expect([told.status, told.headers.get("retry-after")]).toEqual([429, "60"]);
  expect(await told.json()).toMatchObject({ error: { type: "insufficient_quota", code: "insufficient_quota" } });
  const bare = await asked("[[fail 429]]");
  expect([bare.status, bare.headers.get("retry-after")]).toEqual([429, null]);
});

test("everything fails, until it is told to answer again", async () => {
  model.fail({ status: 401, kind: null, retryAfterSeconds: null });
  expect(await ask(model, "chat", [{ user: "one" }])).toBe(401);
  expect(await ask(model, "anthropic", [{ user: "one" }])).toBe(401);
  model.fail(null);
  expect(await ask(model, "chat", [{ user: "one" }])).toContain("turns=1");
});

test("the log says which conversation asks", async () => {
  const headers = { "thread-id": "t", "x-claude-code-session-id": "c", "x-session-id": "s", "user-agent": "x" };
  await ask(model, "anthropic", HISTORY, { headers });
  const { "user-agent": _, ...telling } = headers;
  expect(model.requests[0]?.identity).toEqual(telling);
});

test("a request that is not for the model gets a harmless answer", async () => {
  for (const [path, answer] of [
    ["/v1/messages/count_tokens", { input_tokens: 10 }],
    ["/v1beta/models/m:countTokens", { totalTokens: 10 }],
    ["/v1/models", { object: "list", data: [], models: [] }],
    ["/api/hello", {}],
  ] as const) {
    const response = await fetch(model.url + path, { method: path.includes("models") ? "GET" : "POST" });
    expect(await response.json()).toEqual(answer);
  }
  expect(model.requests.every(({ auxiliary, wire }) => auxiliary && wire === null)).toBe(true);
});

test("waiting ends with what came, what comes, or a list of what came instead", async () => {
  const later = model.until(({ turns }) => turns.length === 2);
  await ask(model, "chat", [{ user: "one" }]);
  await ask(model, "chat", HISTORY);
  expect((await later).index).toBe(1);
  expect((await model.until(({ turns }) => turns.length === 1)).index).toBe(0);
  await expect(model.until(() => false, { timeoutMs: 1 })).rejects.toThrow(/no such request in 1 ms\n0 .*\["one"\]/);
});

test("a client that is killed in the middle leaves nothing behind", async () => {
  const leaving = new AbortController();
  const body = JSON.stringify({
    stream: true,
    messages: [{ role: "user", content: "[[hold]]" }],
    tools: [{ name: "x" }],
  });
  const gone = fetch(`${model.url}/v1/messages`, { method: "POST", body, signal: leaving.signal });
  await model.until(({ turns }) => turns.length === 1);
  await (await gone).body?.cancel();
  leaving.abort();
  expect(await ask(model, "anthropic", HISTORY)).toBe("turns=2 first=one last=two");
});
