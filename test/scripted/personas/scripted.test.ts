import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SCRIPTED, ScriptedHome } from "../scripted-home.ts";
import { Talk } from "../../support/talk.ts";

const HOME = ".local/share/perdure-scripted";

let home: ScriptedHome;
beforeEach(() => {
  home = new ScriptedHome("scripted");
});
afterEach(() => home.clear());

test("a transcript begins with the first prompt, and holds the turns", async () => {
  const talk = home.open(["--session-id", "one", "--name", "coder", "--model", "m-1"]);
  const banner = await talk.answer();
  expect(banner).toMatch(/session +one \(coder\)/);
  expect(banner).toMatch(/model +m-1/);
  expect(banner).toContain("history: 0 turns");
  expect(home.files(`${HOME}/sessions`)).toEqual([]);

  expect(await talk.say("hello")).toBe("turns=1 first=hello last=hello");
  expect(await talk.say("and more")).toBe("turns=2 first=hello last=and more");
  expect(home.lines(HOME, "sessions/one.jsonl")).toEqual([
    {
      type: "session",
      id: "one",
      cwd: home.work,
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      version: expect.stringMatching(/^\d+\./) as string,
    },
    { type: "user", text: "hello" },
    { type: "agent", text: "turns=1 first=hello last=hello" },
    { type: "user", text: "and more" },
    { type: "agent", text: "turns=2 first=hello last=and more" },
  ]);
  expect(await talk.end()).toMatchObject({ code: 0, stderr: "" });
});

test("the presence file is there as long as the agent lives", async () => {
  const talk = home.open(["--session-id", "one", "--name", "coder"]);
  await talk.answer();
  const stat = readFileSync(`/proc/${talk.pid}/stat`, "utf8");
  expect(home.json(HOME, `live/${talk.pid}.json`)).toEqual({
    pid: talk.pid,
    procStart: stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19],
    session: "one",
    cwd: home.work,
    name: "coder",
    status: "idle",
  });
  await talk.end();
  expect(home.files(`${HOME}/live`)).toEqual([]);
});

test.each([
  ["SIGTERM", 143, 0],
  ["SIGHUP", 129, 0],
  ["SIGINT", 130, 0],
  ["SIGKILL", -1, 1],
] as const)("%s: exit code %i, and %i entries left behind", async (signal, code, left) => {
  const talk = home.open([]);
  await talk.answer();
  talk.kill(signal);
  expect(await talk.ended).toMatchObject({ code });
  expect(home.files(`${HOME}/live`)).toHaveLength(left);
});

test("a resumed session knows what was said, from anywhere", async () => {
  await home.run(["--session-id", "one"], { input: "first thing\n" });
  const talk = home.open(["--resume", "one"], { cwd: home.dir });
  expect(await talk.answer()).toContain("history: 1 turns");
  expect(await talk.say("second thing")).toBe("turns=2 first=first thing last=second thing");
  await talk.end();
  expect(home.files(`${HOME}/sessions`)).toEqual([`${HOME}/sessions/one.jsonl`]);
});

test("a terminal works like a pipe: a prompt, an answer, Ctrl-D", async () => {
  const child = spawn("script", ["-qec", `${SCRIPTED} --session-id one`, "/dev/null"], {
    cwd: home.work,
    env: { PATH: process.env.PATH, HOME: home.dir, LANG: "C.UTF-8" },
  });
  const talk = new Talk(child);
  await talk.until(/> $/);
  talk.type("hello");
  await talk.until(/turns=1 first=hello last=hello\r\n> $/);
  child.stdin.write("\u0004");
  expect(await talk.ended).toMatchObject({ code: 0 });
  expect(home.lines(HOME, "sessions/one.jsonl")).toHaveLength(3);
});

test("a session without a given id gets a random one", async () => {
  for (const prompt of ["a", "b"]) await home.run(["-p", prompt]);
  const files = home.files(`${HOME}/sessions`);
  expect(new Set(files).size).toBe(2);
  for (const file of files) expect(file).toMatch(/\/[0-9a-f-]{36}\.jsonl$/);
});

test("a turn that a kill cut off in the middle of a line costs only that line", async () => {
  await home.run(["-p", "--session-id", "one", "first"]);
  const file = join(home.dir, HOME, "sessions/one.jsonl");
  writeFileSync(file, `${readFileSync(file, "utf8")}{"type":"user","te\n`);
  expect((await home.run(["-p", "--resume", "one", "next"])).stdout).toBe("turns=2 first=first last=next\n");
});

const TRANSCRIPTS = {
  taken: '{"type":"session","id":"taken"}\n',
  empty: "",
  broken: '{"type":"sess\n{"type":"user","text":"x"}\n',
  other: '{"type":"session","id":"somebody"}\n',
};

test.each([
  [["--session-id", "taken"], 1, "taken already exists"],
  [["--session-id", "empty"], 1, "empty already exists"],
  [["--session-id", "../up"], 1, "cannot be a session's id"],
  [["--resume", "unknown"], 1, "no session unknown"],
  [["--resume", "empty"], 1, "its file is empty"],
  [["--resume", "broken"], 1, "its first line is broken"],
  [["--resume", "other"], 1, "its first line is broken"],
  [["--resume", "taken", "--session-id", "new"], 2, "exclude each other"],
  [["--bogus"], 2, "no option --bogus"],
  [["--model"], 2, "--model"],
  [["two", "words"], 2, "quote it"],
  [["--persona", "nobody"], 2, "scripted, claude, codex"],
  // The former name of --persona.
  [["--layout", "nobody"], 2, "scripted, claude, codex"],
])("%j is refused with %i, and nothing is begun", async (args, code, words) => {
  const folder = join(home.dir, HOME, "sessions");
  mkdirSync(folder, { recursive: true });
  for (const [id, text] of Object.entries(TRANSCRIPTS)) writeFileSync(join(folder, `${id}.jsonl`), text);
  const finished = await home.run([...args, "-p", "--", ...(args.includes("two") ? [] : ["prompt"])]);
  expect(finished).toEqual({ code, stdout: "", stderr: expect.stringContaining(words) as string });
  expect(home.files(HOME)).toHaveLength(Object.keys(TRANSCRIPTS).length);
  for (const [id, text] of Object.entries(TRANSCRIPTS)) {
    expect(readFileSync(join(folder, `${id}.jsonl`), "utf8")).toBe(text);
  }
});
