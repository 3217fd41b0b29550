import { chmodSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { readHookEvents } from "../../src/daemon/conversations/signs/hook-events.ts";
import { extension } from "../../src/vendors/pi/extension.ts";
import { pi } from "../../src/vendors/pi/index.ts";
import { eventsIn, FakePi, inSession, loadInto, type Context } from "./fake-pi.ts";
import { folder, put } from "./fixtures.ts";

// What these tests wait for is that the time is over; how long it is, is not their business.
vi.mock(import("../../src/limits/index.ts"), async (original) => ({ ...(await original()), WAKE_SOCKET_MS: 1_000 }));

async function loaded(dir: string): Promise<FakePi> {
  return loadInto(dir, new FakePi());
}

test("every event is whole, none is lost, in their order, and nothing else is left", async () => {
  const dir = folder();
  const sessions: string[] = [];
  for (let n = 0; n < 20; n++) {
    const api = await loaded(dir);
    for (const event of ["session_start", "agent_start", "agent_settled"]) {
      api.emit(event, { reason: "new" }, inSession(`s-${n}`));
      sessions.push(`s-${n}`);
    }
  }
  expect(readHookEvents(dir, pi).map(({ sign }) => sign.session)).toEqual(sessions);
  const activities = readHookEvents(dir, pi).map(({ sign }) => sign.activity);
  expect(activities.slice(0, 3)).toEqual(["idle", "busy", "idle"]);
  expect(readdirSync(dir)).toHaveLength(sessions.length + 1);
});

test("a dialog blocks it; afterwards it is as busy as it was", async () => {
  const dir = folder();
  const api = await loaded(dir);
  for (const idle of [false, true]) {
    api.emit("ui_prompt_start", { reason: "ui_prompt", kind: "confirm" }, inSession("s", idle));
    api.emit("ui_prompt_end", {}, inSession("s", idle));
  }
  expect(readHookEvents(dir, pi).map(({ sign }) => sign.activity)).toEqual(["blocked", "busy", "blocked", "idle"]);
});

test("the name that its user gives to a conversation is told at once, and with every other event", async () => {
  const dir = folder();
  const api = await loaded(dir);
  let called: string | undefined = "first";
  const { sessionManager, ...context } = inSession("s", false);
  const inNamed = { ...context, sessionManager: { ...sessionManager, getSessionName: () => called } };
  api.emit("session_start", {}, inNamed);
  called = "x".repeat(1000);
  api.emit("session_info_changed", { name: called }, inNamed);
  called = undefined;
  api.emit("session_info_changed", {}, inNamed);
  const signs = readHookEvents(dir, pi).map(({ sign: { name, activity } }) => [name, activity]);
  expect(signs).toEqual([
    ["first", "idle"],
    ["x".repeat(300), "busy"],
    [null, "busy"],
  ]);
});

test("no other user can read what it leaves", async () => {
  const dir = folder();
  const umask = process.umask(0);
  try {
    (await loaded(dir)).emit("session_start", {}, inSession("s"));
  } finally {
    process.umask(umask);
  }
  expect(eventsIn(dir).map((name) => statSync(join(dir, name)).mode & 0o777)).toEqual([0o600]);
});

test("pi is never disturbed: not by a folder that is gone, not by a context that has changed", async () => {
  const dir = folder();
  const api = await loaded(dir);
  const broken = { isIdle: () => true, sessionManager: {} } as Context;
  for (const event of api.handlers.keys()) expect(api.emit(event, {}, broken)).toBeUndefined();
  expect(eventsIn(dir)).toEqual([]);
  rmSync(dir, { recursive: true });
  for (const event of api.handlers.keys()) expect(api.emit(event, {}, inSession("s"))).toBeUndefined();
});

test("where it cannot write it leaves nothing half done", async () => {
  const dir = folder();
  const api = await loaded(dir);
  chmodSync(dir, 0o500);
  asOrdinaryUser(() => {
    expect(() => writeFileSync(join(dir, "x"), "")).toThrow("EACCES");
    expect(api.emit("session_start", {}, inSession("s"))).toBeUndefined();
  });
  chmodSync(dir, 0o700);
  expect(readdirSync(dir)).toEqual([extension(dir).name]);
});

const NOBODY = 65_534;

/** Root may write anywhere, so it acts as another user meanwhile. */
function asOrdinaryUser(act: () => void): void {
  if (process.getuid?.() !== 0) return act();
  process.seteuid?.(NOBODY);
  try {
    act();
  } finally {
    process.seteuid?.(0);
  }
}

test("an ephemeral conversation has no file, and is told all the same", async () => {
  const dir = folder();
  const api = await loaded(dir);
  const context = inSession("s");
  api.emit(
    "session_start",
    {},
    { ...context, sessionManager: { ...context.sessionManager, getSessionFile: () => undefined } },
  );
  const [name = ""] = eventsIn(dir);
  expect(JSON.parse(readFileSync(join(dir, name), "utf8"))).toEqual({
    event: "session_start",
    idle: true,
    name: null,
    session_id: "s",
  });
});

test("C2: a turn that failed tells why when it has settled, and the next one tells nothing of it", async () => {
  const dir = folder();
  const api = await loaded(dir);
  const settle = (message: object): void => {
    api.emit("agent_start", {}, inSession("s", false));
    api.emit("agent_end", { messages: [message] }, inSession("s", false));
    api.emit("agent_settled", {}, inSession("s"));
  };
  const error = '401: {"message":"made-up error 401"}';
  settle({ role: "assistant", stopReason: "error", errorMessage: error });
  settle({ role: "assistant", stopReason: "stop" });
  settle({ role: "assistant", stopReason: "error", errorMessage: "500: the model says 401" });
  const ends = readHookEvents(dir, pi).filter(({ sign }) => sign.evidence.startsWith("agent_settled"));
  expect(ends.map(({ sign: { activity, blocked, words } }) => [activity, blocked, words])).toEqual([
    ["blocked", "login", error],
    ["idle", undefined, undefined],
    ["idle", undefined, undefined],
  ]);
});

/** Leaves mail for hooks, as the daemon does. */
function leaveMail(dir: string, session: string, forms: Record<string, string>): void {
  for (const [name, text] of Object.entries({ ...forms, session })) put(dir, `mail/${name}`, text);
}

function receiptsIn(dir: string): string[] {
  return readdirSync(dir)
    .filter((name) => name.startsWith("taken."))
    .map((name) => name.split(".")[1] ?? "");
}

const message = (content: string): object => ({ customType: "perdure", content, display: true });

test("mail is handed over once: beside a prompt, in the result of a tool, at the end of a turn", async () => {
  const dir = folder();
  const api = await loaded(dir);
  const context = inSession("s", false);
  leaveMail(dir, "s", { prompt: "mail 1" });
  expect(api.emit("before_agent_start", {}, context)).toEqual({ message: message("mail 1") });
  expect(api.emit("before_agent_start", {}, context)).toBeUndefined();
  leaveMail(dir, "s", { tool: "mail 2" });
  const result = { content: [{ type: "text", text: "done" }], structuredContent: { n: 1 } };
  const said = { ...result, content: [...result.content, { type: "text", text: "mail 2" }] };
  expect(api.emit("tool_result", { ...result, parentToolCallId: "1" }, context)).toBeUndefined();
  expect(api.emit("tool_result", result, context)).toEqual(said);
  leaveMail(dir, "s", { stop: "mail 3" });
  const entry = { type: "custom_message", ...message("mail 3") };
  expect(api.emit("agent_before_settle", { entries: [] }, context)).toEqual({ entries: [entry], continue: true });
  expect(receiptsIn(dir).toSorted()).toEqual(["prompt", "stop", "tool"]);
  // Each receipt is told of, so that the daemon looks.
  expect(readHookEvents(dir, pi).map(({ sign }) => sign.evidence)).toEqual(Array(3).fill("mail in its extension"));
});

test("a turn is prolonged once, and not one that failed", async () => {
  const dir = folder();
  const api = await loaded(dir);
  const context = inSession("s", false);
  leaveMail(dir, "s", { stop: "mail 1" });
  expect(api.emit("agent_before_settle", { entries: [] }, context)).toBeDefined();
  leaveMail(dir, "s", { stop: "mail 2" });
  expect(api.emit("agent_before_settle", { entries: [] }, context)).toBeUndefined();
  api.emit("before_agent_start", {}, context);
  api.emit("agent_end", { messages: [{ stopReason: "error", errorMessage: "500" }] }, context);
  expect(api.emit("agent_before_settle", { entries: [] }, context)).toBeUndefined();
  expect(receiptsIn(dir)).toEqual(["stop"]);
});

test("mail for another conversation, or for another hook, is left alone", async () => {
  const dir = folder();
  const api = await loaded(dir);
  leaveMail(dir, "other", { prompt: "mail" });
  expect(api.emit("before_agent_start", {}, inSession("s"))).toBeUndefined();
  expect(api.emit("tool_result", { content: [] }, inSession("other"))).toBeUndefined();
  expect(receiptsIn(dir)).toEqual([]);
});

test("the first prompt of a run has what was left to be said at its start", async () => {
  const dir = folder();
  const api = await loaded(dir);
  const { name, text } = pi.launch.startMessage?.("You are api/coder.") ?? { name: "", text: "" };
  put(dir, name, text);
  leaveMail(dir, "s", { prompt: "mail" });
  expect(api.emit("before_agent_start", {}, inSession("s"))).toEqual({
    message: message("You are api/coder.\n\nmail"),
  });
  expect(api.emit("before_agent_start", {}, inSession("s"))).toBeUndefined();
});

test("a wake begins a turn, in its conversation only, and is taken once", async () => {
  const dir = folder();
  const api = await loaded(dir);
  const place = { runDir: dir, configDir: "", cwd: "", pid: null, args: [], program: () => null, ask: never };
  const wake = (session: string): Promise<boolean> | undefined =>
    pi.delivery?.wake?.wake("mail", { ...place, session }, "m");
  await wake("other");
  api.emit("session_start", {}, inSession("s"));
  expect(api.sent).toEqual([]);
  await wake("s");
  const options = { triggerTurn: true, deliverAs: "followUp" };
  await vi.waitFor(() => expect(api.sent).toEqual([[message("mail"), options]]));
  api.emit("session_shutdown", {}, inSession("s"));
  await wake("s");
  await pi.delivery?.wake?.withdraw?.({ ...place, session: "s" });
  api.emit("session_start", {}, inSession("s"));
  expect(api.sent).toHaveLength(1);
  api.emit("session_shutdown", {}, inSession("s"));
});

function never(): Promise<never> {
  return Promise.reject(new Error("nobody asks"));
}
