import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ScriptedHome } from "./scripted-home.ts";
import type { Talk } from "../support/talk.ts";

const HOME = ".local/share/perdure-scripted";

let home: ScriptedHome;
beforeEach(() => {
  home = new ScriptedHome("scripted");
});
afterEach(() => home.clear());

async function opened(args: string[] = []): Promise<Talk> {
  const talk = home.open(args);
  await talk.answer();
  return talk;
}

function live(talk: Talk): Record<string, unknown> {
  return home.json(HOME, `live/${talk.pid}.json`);
}

test.each(["/clear", "/new"])("%s: a new session, announced; the old one stays as it is", async (order) => {
  const talk = await opened(["--session-id", "one", "--name", "coder"]);
  await talk.say("old");
  const announced = /now in session ([0-9a-f-]{36}), history: 0 turns/.exec(await talk.say(order))?.[1];
  expect(announced).toBeDefined();
  expect(live(talk)).toMatchObject({ session: announced, name: "coder", status: "idle" });
  expect(await talk.say("new")).toBe("turns=1 first=new last=new");
  await talk.end();
  expect(home.lines(HOME, "sessions/one.jsonl")).toHaveLength(3);
  expect(home.lines(HOME, `sessions/${announced}.jsonl`)).toHaveLength(3);
});

test("/resume: another session; one that is not there changes nothing", async () => {
  await home.run(["-p", "--session-id", "one", "first"]);
  const talk = await opened(["--session-id", "two"]);
  expect(await talk.say("/resume nobody")).toContain("no session nobody");
  expect(live(talk)).toMatchObject({ session: "two" });
  expect(await talk.say("/resume one")).toContain("one, history: 1 turns");
  expect(live(talk)).toMatchObject({ session: "one" });
  expect(await talk.say("second")).toBe("turns=2 first=first last=second");
  await talk.end();
});

test.each([
  ["/crash", 1],
  ["/crash 7", 7],
])("%s: exits with %i at once and tidies nothing", async (order, code) => {
  const talk = await opened();
  talk.type(order);
  expect(await talk.ended).toMatchObject({ code });
  expect(home.files(`${HOME}/live`)).toEqual([`${HOME}/live/${talk.pid}.json`]);
});

test("/kill: dies of SIGKILL", async () => {
  const talk = await opened();
  talk.type("/kill");
  await talk.ended;
  expect(talk.child.signalCode).toBe("SIGKILL");
});

test.each([
  ["/exit", 0],
  ["/exit 4", 4],
])("%s: leaves in good order with %i", async (order, code) => {
  const talk = await opened();
  talk.type(order);
  expect(await talk.ended).toMatchObject({ code });
  expect(home.files(`${HOME}/live`)).toEqual([]);
});

test("/hang: busy and deaf; SIGTERM ends it", async () => {
  const talk = await opened(["--session-id", "one"]);
  talk.type("/hang");
  await expect.poll(() => live(talk).status).toBe("busy");
  talk.type("hello?");
  talk.child.stdin?.end();
  talk.kill("SIGTERM");
  const { code, stdout } = await talk.ended;
  expect(code).toBe(143);
  expect(stdout).not.toContain("hello?");
});

test("/stubborn: SIGTERM and SIGHUP do nothing any more", async () => {
  const talk = await opened();
  await talk.say("/stubborn");
  for (const signal of ["SIGTERM", "SIGHUP", "SIGTERM"] as const) talk.kill(signal);
  expect(await talk.say("there?")).toBe("turns=1 first=there? last=there?");
  expect(await talk.say("still?")).toContain("turns=2");
  talk.type("/exit 5");
  expect(await talk.ended).toMatchObject({ code: 5 });
});

test("/permission: blocked until the next line", async () => {
  const talk = await opened();
  for (const [answer, outcome] of [
    ["y", "allowed"],
    ["n", "denied"],
  ] as const) {
    talk.type("/permission");
    await talk.until(/allow\? \[y\/n\]\n/);
    expect(live(talk)).toMatchObject({ status: "blocked" });
    expect(await talk.say(answer)).toBe(outcome);
    expect(live(talk)).toMatchObject({ status: "idle" });
  }
  expect((await home.run(["-p", "/permission"])).stdout).toContain("denied");
  expect((await home.run(["--script", "/permission; y"])).stdout).toContain("allowed");
});

test("/login: says so and exits with 1", async () => {
  expect(await home.run([], { input: "/login\nhello\n" })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Not logged in") as string,
    stdout: expect.not.stringContaining("turns=") as string,
  });
});

test("/garble: the session cannot be resumed after it", async () => {
  await home.run(["--session-id", "one"], { input: "hello\n/garble\n" });
  expect(await home.run(["-p", "--resume", "one", "x"])).toMatchObject({ code: 1, stdout: "" });
  expect(readFileSync(join(home.dir, HOME, "sessions/one.jsonl"), "utf8")).not.toContain("hello");
});

test("/cd: moves, and tells where it is", async () => {
  mkdirSync(join(home.work, "inside"));
  const talk = await opened();
  expect(await talk.say("/cd nowhere")).toContain("cannot move to nowhere");
  expect(live(talk)).toMatchObject({ cwd: home.work });
  await talk.say("/cd inside");
  expect(live(talk)).toMatchObject({ cwd: join(home.work, "inside") });
  await talk.end();
});

test("/sleep: busy for so long, and hears afterwards what came meanwhile", async () => {
  const talk = await opened();
  const began = performance.now();
  talk.type("/sleep 300");
  talk.type("meanwhile");
  await expect.poll(() => live(talk).status).toBe("busy");
  await talk.until(/slept 300 ms/);
  expect(performance.now() - began).toBeGreaterThanOrEqual(300);
  await talk.until(/turns=1 first=meanwhile/);
  await talk.end();
});

test("/print: a nested agent with this one's environment answers, in a session of its own", async () => {
  const talk = home.open(["--session-id", "one"], {
    env: { PERDURE_SCRIPTED_HOME: join(home.dir, "elsewhere"), PERDURE_SCRIPT: "/print deep thought" },
  });
  await talk.until(/turns=1 first=deep thought last=deep thought\n/);
  await talk.end();
  expect(home.files("elsewhere/sessions")).toHaveLength(1);
  expect(existsSync(join(home.dir, "elsewhere/sessions/one.jsonl"))).toBe(false);
});

test("/help lists every order; an unknown one is told, and is no prompt", async () => {
  const { stdout } = await home.run([], { input: "/help\n/bogus\n" });
  const orders = "clear new resume crash kill hang stubborn permission login garble cd sleep print exit help".split(
    " ",
  );
  for (const order of orders) expect(stdout).toContain(`/${order} `);
  expect(stdout).toContain("no order /bogus");
  expect(home.files(`${HOME}/sessions`)).toEqual([]);
});

test("headless, an order works too; one that cannot be followed is a failure", async () => {
  expect(await home.run(["-p", "/exit 9"])).toMatchObject({ code: 9 });
  expect(await home.run(["-p", "/resume nobody"])).toMatchObject({ code: 1 });
  expect(await home.run(["-p", "/crash 3"])).toMatchObject({ code: 3 });
});
