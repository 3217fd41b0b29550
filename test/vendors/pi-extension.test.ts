import { chmodSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readHookEvents } from "../../src/daemon/conversations/hook-events.ts";
import { EVENT_PREFIX } from "../../src/vendors/index.ts";
import { extension, extensionFile } from "../../src/vendors/pi/extension.ts";
import { pi } from "../../src/vendors/pi/index.ts";
import { folder, put } from "./fixtures.ts";

interface Context {
  isIdle(): boolean;
  sessionManager: { getSessionId(): string; getSessionFile(): string | undefined };
}
type Handler = (event: Record<string, unknown>, context: Context) => unknown;

/** A stand-in for pi with just what the extension calls. */
class FakePi {
  readonly handlers = new Map<string, Handler>();

  on(event: string, handler: Handler): void {
    this.handlers.set(event, handler);
  }

  emit(event: string, data: Record<string, unknown>, context: Context): unknown {
    return this.handlers.get(event)?.(data, context);
  }
}

let loads = 0;

/** Loaded anew each time, as pi does for every conversation. */
async function loaded(dir: string): Promise<FakePi> {
  const { name, text } = extension(dir);
  expect(join(dir, name)).toBe(extensionFile(dir));
  put(dir, name, text);
  const module = (await import(`${extensionFile(dir)}?load=${++loads}`)) as { default: (api: FakePi) => void };
  const api = new FakePi();
  module.default(api);
  return api;
}

function inSession(id: string, idle = true): Context {
  return { isIdle: () => idle, sessionManager: { getSessionId: () => id, getSessionFile: () => `/s/t_${id}.jsonl` } };
}

function eventsIn(dir: string): string[] {
  return readdirSync(dir).filter((name) => name.startsWith(EVENT_PREFIX));
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

test("where it cannot write it leaves nothing half done", async ({ skip }) => {
  skip(process.getuid?.() === 0, "root may write anywhere");
  const dir = folder();
  const api = await loaded(dir);
  chmodSync(dir, 0o500);
  expect(api.emit("session_start", {}, inSession("s"))).toBeUndefined();
  chmodSync(dir, 0o700);
  expect(readdirSync(dir)).toEqual([extension(dir).name]);
});

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
    session_id: "s",
  });
});
