import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { slugOf } from "../../../src/scripted/personas/claude/transcripts.ts";
import { SCRIPTED, ScriptedHome } from "../scripted-home.ts";

const ID = "0c5fd5ef-9d38-4f93-a571-8f4a7a1f0b51";
const OTHER = "5b2a7d0e-6f0b-4a53-9d8f-0d6e7d1c2b3a";

let home: ScriptedHome;
beforeEach(() => {
  home = new ScriptedHome("claude");
});
afterEach(() => home.clear());

function transcript(id = ID): string {
  return join(".claude/projects", slugOf(home.work), `${id}.jsonl`);
}

test("the transcript: from the first prompt on, a chain of turns, found by its id from any folder", async () => {
  const talk = home.open(["--session-id", ID, "--name", "coder"]);
  await talk.answer();
  expect(home.files(".claude/projects")).toEqual([]);
  await talk.say("hello");
  await talk.end();
  expect((await home.run(["-p", "-r", ID, "again"], { cwd: home.dir })).stdout).toBe(
    "turns=2 first=hello last=again\n",
  );

  expect(home.files(".claude/projects")).toEqual([transcript()]);
  const lines = home.lines(transcript());
  expect(lines.slice(0, 2)).toEqual([
    { type: "custom-title", customTitle: "coder", sessionId: ID },
    { type: "agent-name", agentName: "coder", sessionId: ID },
  ]);
  const turns = lines.slice(2);
  expect(turns.map(({ type, cwd }) => [type, cwd])).toEqual([
    ["user", home.work],
    ["assistant", home.work],
    ["user", home.dir],
    ["assistant", home.dir],
  ]);
  expect(turns[0]).toMatchObject({ sessionId: ID, version: "2.1.325", message: { role: "user", content: "hello" } });
  expect(turns[1]).toMatchObject({
    message: { role: "assistant", content: [{ type: "text", text: "turns=1 first=hello last=hello" }] },
  });
  expect(turns.map(({ parentUuid }) => parentUuid)).toEqual([null, ...turns.slice(0, -1).map(({ uuid }) => uuid)]);
});

test("a folder's slug is as the vendor makes it", () => {
  expect(slugOf("/tmp/we ird_ü.x")).toBe("-tmp-we-ird---x");
  const parts = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((part) => `abcdefghijklmnopqrstuvwxyz_${part}`);
  const slug = slugOf(`/tmp/long/${parts.join("/")}`);
  expect(slug).toMatch(/-abcdefghijklmnop-r75nkf$/);
  expect(slug).toHaveLength(207);
});

test("the registry: there from the launch, follows /clear, waits at a permission, gone at the end", async () => {
  const talk = home.open(["--session-id", ID, "-n", "coder"]);
  await talk.answer();
  const entry = (): Record<string, unknown> => home.json(".claude/sessions", `${talk.pid}.json`);
  const stat = readFileSync(`/proc/${talk.pid}/stat`, "utf8");
  expect(entry()).toMatchObject({
    pid: talk.pid,
    sessionId: ID,
    cwd: home.work,
    name: "coder",
    status: "idle",
    kind: "interactive",
    version: "2.1.325",
    procStart: stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19],
  });
  const cleared = /session ([0-9a-f-]{36})/.exec(await talk.say("/clear"))?.[1];
  expect(entry()).toMatchObject({ sessionId: cleared, name: "coder" });
  expect(cleared).not.toBe(ID);
  talk.type("/permission");
  await talk.until(/allow/);
  expect(entry()).toMatchObject({ status: "waiting", waitingFor: "permission prompt" });
  await talk.end();
  expect(home.files(".claude/sessions")).toEqual([]);
});

test("the process looks like the vendor's", async () => {
  const talk = home.open([]);
  await talk.answer();
  expect(readFileSync(`/proc/${talk.pid}/cmdline`, "utf8").split("\0")[0]).toBe("claude");
  expect(readFileSync(`/proc/${talk.pid}/comm`, "utf8")).toBe("claude\n");
  await talk.end();
});

test.each([
  [["--resume", OTHER], `No conversation found with session ID: ${OTHER}`],
  [["--resume", "0c5fd5ef-0000-4000-8000-00000000000e"], "No conversation found"],
  [["--resume", "0c5fd5ef-0000-4000-8000-00000000000d"], "No conversation found"],
  [["--session-id", ID], `Session ID ${ID} is already in use`],
  [["--session-id", "0c5fd5ef-0000-4000-8000-00000000000e"], "is already in use"],
  [["--session-id", "coder"], "Must be a valid UUID"],
  [["--resume", ID, "--session-id", OTHER], "--fork-session"],
  [["--bogus"], "unknown option '--bogus'"],
  [["--settings", "{broken"], "Invalid JSON"],
  [["--settings", "/nonexistent/settings.json"], "Settings file not found"],
  [["--output-format", "stream-json"], "requires --verbose"],
])("%j: exit 1, %s", async (args, words) => {
  await home.run(["-p", "--session-id", ID, "hello"]);
  const folder = join(home.dir, ".claude/projects/-elsewhere");
  mkdirSync(folder);
  writeFileSync(join(folder, "0c5fd5ef-0000-4000-8000-00000000000e.jsonl"), "");
  writeFileSync(join(folder, "0c5fd5ef-0000-4000-8000-00000000000d.jsonl"), "garbage\n{half");
  const before = home.files(".claude");
  expect(await home.run(["-p", ...args, "--", "x"])).toEqual({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining(words) as string,
  });
  expect(home.files(".claude")).toEqual(before);
});

test("every line of the output formats names the session", async () => {
  const stream = ["-p", "--output-format", "stream-json", "--verbose", "--name", "coder", "--permission-mode", "plan"];
  const { stdout } = await home.run([...stream, "--session-id", ID, "hi"]);
  const events = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(events.map(({ type, subtype, session_id }) => [type, subtype, session_id])).toEqual([
    ["system", "session_title_changed", ID],
    ["system", "init", ID],
    ["assistant", undefined, ID],
    ["result", "success", ID],
  ]);
  expect(events[1]).toMatchObject({ permissionMode: "plan", cwd: home.work });
  const { stdout: document } = await home.run(["-p", "--output-format", "json", "--resume", ID, "more"]);
  expect(JSON.parse(document)).toMatchObject({ session_id: ID, result: "turns=2 first=hi last=more" });
});

test("a resumed session keeps its title", async () => {
  await home.run(["-p", "--session-id", ID, "--name", "coder", "hi"]);
  const talk = home.open(["--resume", ID]);
  await talk.answer();
  expect(home.json(".claude/sessions", `${talk.pid}.json`)).toMatchObject({ name: "coder", nameSource: "user" });
  await talk.end();
});

test("a two-line script called claude on PATH is enough; CLAUDE_CONFIG_DIR moves everything", () => {
  const shim = join(home.dir, "claude");
  writeFileSync(shim, `#!/bin/sh\nPERDURE_SCRIPTED_PERSONA=claude exec ${SCRIPTED} "$@"\n`, { mode: 0o755 });
  const { status, stdout } = spawnSync("claude", ["-p", "--session-id", ID, "hi"], {
    cwd: home.work,
    encoding: "utf8",
    env: {
      HOME: home.dir,
      PATH: `${home.dir}:${process.env.PATH}`,
      CLAUDE_CONFIG_DIR: join(home.dir, "config"),
    },
  });
  expect({ status, stdout }).toEqual({ status: 0, stdout: "turns=1 first=hi last=hi\n" });
  expect(home.files("config/projects")).toEqual([join("config/projects", slugOf(home.work), `${ID}.jsonl`)]);
  expect(home.files(".claude")).toEqual([]);
});
