import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { slugOf } from "../../../src/scripted/personas/claude/transcripts.ts";
import { ScriptedHome } from "../scripted-home.ts";

const ID = "0c5fd5ef-9d38-4f93-a571-8f4a7a1f0b51";

let home: ScriptedHome;
beforeEach(() => {
  home = new ScriptedHome("claude");
});
afterEach(() => home.clear());

const LOG = "hooks.log";

/** Each hook writes down what it was told and who told it, slowly enough that nobody waits by accident. */
function settings(): string {
  const command = `(cat; echo " $CLAUDE_PID $CLAUDE_CODE_SESSION_ID") | tr -d '\\n' > "$HOME/told.$$"; sleep 0.05; (cat "$HOME/told.$$"; echo) >> "$HOME/${LOG}"; rm "$HOME/told.$$"; echo heard`;
  const events = ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"];
  return JSON.stringify({
    hooks: Object.fromEntries(events.map((event) => [event, [{ hooks: [{ type: "command", command, timeout: 20 }] }]])),
  });
}

interface Told {
  event: Record<string, unknown>;
  pid: number;
  session: string;
}

function told(): Told[] {
  const lines = readFileSync(join(home.dir, LOG), "utf8").trimEnd().split("\n");
  return lines.map((line) => {
    const [, event = "", pid = "", session = ""] = /^(.*) (\d+) (\S+)$/.exec(line) ?? [];
    return { event: JSON.parse(event) as Record<string, unknown>, pid: Number(pid), session };
  });
}

test("hooks are told what happens, in order, and waited for", async () => {
  const file = join(home.dir, "settings.json");
  writeFileSync(file, settings());
  const talk = home.open(["--session-id", ID, "--settings", file]);
  await talk.answer();
  expect(told()).toHaveLength(1);
  await talk.say("hello");
  expect(told()).toHaveLength(3);
  const cleared = /session ([0-9a-f-]{36})/.exec(await talk.say("/clear"))?.[1] ?? "";
  expect((await talk.end()).stderr).toContain("heard");

  expect(
    told().map(({ event, session }) => [event.hook_event_name, event.source ?? event.reason ?? event.prompt, session]),
  ).toEqual([
    ["SessionStart", "startup", ID],
    ["UserPromptSubmit", "hello", ID],
    ["Stop", undefined, ID],
    ["SessionEnd", "clear", ID],
    ["SessionStart", "clear", cleared],
    ["SessionEnd", "prompt_input_exit", cleared],
  ]);
  for (const { event, pid, session } of told()) {
    expect(pid).toBe(talk.pid);
    expect(event).toMatchObject({
      session_id: session,
      cwd: home.work,
      transcript_path: join(home.dir, ".claude/projects", slugOf(home.work), `${session}.jsonl`),
    });
  }
});

test("hooks as JSON on the command line; resume and a signal are told too", async () => {
  await home.run(["-p", "--session-id", ID, "hello"]);
  const talk = home.open(["--resume", ID, "--settings", settings()]);
  await talk.answer();
  talk.kill("SIGTERM");
  expect(await talk.ended).toMatchObject({ code: 143 });
  expect(told().map(({ event }) => event.source ?? event.reason)).toEqual(["resume", "other"]);
});

test("a hook that fails is told, and stops nothing", async () => {
  const hooks = { SessionStart: [{ hooks: [{ type: "command", command: "exit 3" }] }] };
  expect(await home.run(["-p", "--settings", JSON.stringify({ hooks }), "hi"])).toEqual({
    code: 0,
    stdout: "turns=1 first=hi last=hi\n",
    stderr: "hook ended with 3: exit 3\n",
  });
});
