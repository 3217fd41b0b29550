import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ScriptedHome } from "./scripted-home.ts";

const HOME = ".local/share/perdure-scripted";

let home: ScriptedHome;
beforeEach(() => {
  home = new ScriptedHome("scripted");
});
afterEach(() => home.clear());

test("headless: a prompt as an argument or on stdin, one answer", async () => {
  expect(await home.run(["-p", "--session-id", "one", "by argument"])).toEqual({
    code: 0,
    stdout: "turns=1 first=by argument last=by argument\n",
    stderr: "",
  });
  expect((await home.run(["--print", "--resume", "one"], { input: "by\nstdin\n" })).stdout).toBe(
    "turns=2 first=by argument last=by\nstdin\n",
  );
  expect(await home.run(["-p"])).toMatchObject({ code: 1, stdout: "" });
});

test("headless with --json: the session first, then the answer, then the end", async () => {
  const { stdout } = await home.run(["-p", "--json", "--session-id", "one", "hi"]);
  expect(parsed(stdout)).toEqual([
    { type: "init", session: "one" },
    { type: "answer", session: "one", text: "turns=1 first=hi last=hi" },
    { type: "end", session: "one" },
  ]);
});

test.each([
  [{ PERDURE_SCRIPTED_HOME: "a", XDG_DATA_HOME: "b" }, "a/sessions/one.jsonl"],
  [{ XDG_DATA_HOME: "b" }, "b/perdure-scripted/sessions/one.jsonl"],
])("%j: it lives there", async (variables, file) => {
  const env = Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, join(home.dir, value)]));
  await home.run(["-p", "--session-id", "one", "hi"], { env });
  expect(home.lines(file)).toHaveLength(3);
  expect(home.files(HOME)).toEqual([]);
});

test("a script is heard before the prompt and before stdin", async () => {
  const { stdout } = await home.run(["--session-id", "one", "--script", "one; two", "three"], { input: "four\n" });
  expect(stdout.match(/turns=.*/g)).toEqual(
    ["one", "two", "three", "four"].map((last, at) => `turns=${at + 1} first=one last=${last}`),
  );
  const { code } = await home.run(["-p", "x"], { env: { PERDURE_SCRIPT: "/exit 6" } });
  expect(code).toBe(6);
});

test("wrong-id: takes another id, new or resumed, without a word about it", async () => {
  await home.run(["-p", "--session-id", "one", "first"]);
  for (const args of [
    ["--session-id", "two"],
    ["--resume", "one"],
  ]) {
    const { code, stdout, stderr } = await home.run([...args, "--script", "wrong-id", "-p", "--json", "x"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(parsed(stdout)).toMatchObject([{ session: expect.stringMatching(/^[0-9a-f-]{36}$/) as string }, {}, {}]);
    expect(stdout).toContain("turns=1 first=x");
  }
  expect(home.files(`${HOME}/sessions`)).toHaveLength(3);
});

test("late: no sign of life for so long", async () => {
  const began = performance.now();
  const talk = home.open(["--script", "late 400"]);
  await talk.until(/./);
  expect(performance.now() - began).toBeGreaterThanOrEqual(400);
  await talk.end();
});

function parsed(text: string): unknown[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
}
