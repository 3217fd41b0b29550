// What only one vendor has in a turn without a terminal; what all have is in turn.test.ts.
import { join } from "node:path";
import { expect, test } from "vitest";
import type { LaunchPlan } from "../../src/vendors/launch-plan.ts";
import type { TurnReader } from "../../src/vendors/turn.ts";
import { gemini } from "../../src/vendors/gemini/index.ts";
import { opencode } from "../../src/vendors/opencode/index.ts";
import { qwen } from "../../src/vendors/qwen/index.ts";
import { folder, put } from "./fixtures.ts";

const RUN_DIR = "/home/u/.local/state/perdure/runs/h.api.coder.1";

function planned({ launch }: typeof gemini, args: readonly string[], configDir = folder()): LaunchPlan {
  const places = { runDir: RUN_DIR, configDir, cwd: "/home/u/api", transcript: null };
  return launch.plan({
    step: "new",
    session: "x",
    name: "w",
    args,
    prompt: null,
    from: null,
    declared: null,
    ...places,
  });
}

function settingsIn({ files }: LaunchPlan): unknown {
  return JSON.parse(files.find(({ name }) => name.endsWith("settings.json"))?.text ?? "");
}

test("gemini and qwen try again less in a turn, and only there", () => {
  const less = { general: { maxAttempts: 2 } };
  expect(settingsIn(planned(gemini, gemini.turn?.args([], RUN_DIR) ?? []))).toMatchObject(less);
  expect(settingsIn(planned(gemini, ["-p", "hi"]))).not.toMatchObject(less);
  const fewer = { model: { generationConfig: { maxRetries: 0 } } };
  expect(settingsIn(planned(qwen, qwen.turn?.args([], RUN_DIR) ?? []))).toMatchObject(fewer);
  expect(settingsIn(planned(qwen, ["-p", "hi"]))).not.toMatchObject(fewer);
});

test("gemini tries as often as its user says", () => {
  const home = folder();
  put(home, join(".gemini", "settings.json"), '{ "general": { "maxAttempts": 7 } }');
  const settings = settingsIn(planned(gemini, gemini.turn?.args([], RUN_DIR) ?? [], home));
  expect(settings).toMatchObject({ general: { maxAttempts: 7, sessionRetention: { enabled: false } } });
});

function told(reader: TurnReader | undefined, ...lines: object[]): TurnReader {
  if (!reader) throw new Error("it has no turn facet");
  reader.push(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return reader;
}

test("gemini's answer comes in parts, of which none is from before a tool", () => {
  const said = (content: string): object => ({ type: "message", role: "assistant", content, delta: true });
  const call = { type: "tool_use", tool_name: "glob" };
  const done = { type: "result", status: "success" };
  const whole = told(gemini.turn?.reader(), said("I "), said("look."), call, said("It is "), said("done."), done);
  expect(whole.outcome()).toMatchObject({ kind: "answer", text: "It is done." });
  const cut = told(gemini.turn?.reader(), said("I look."), call, done);
  expect(cut.outcome()).toMatchObject({ kind: "failed", why: "it ended without an answer" });
});

test("an event of gemini's is the reason of a result that has none", () => {
  const error = { type: "error", severity: "error", message: "Model stream ended with empty response text." };
  const reader = told(gemini.turn?.reader(), error, { type: "result", status: "error" });
  expect(reader.outcome()).toMatchObject({ kind: "failed", why: error.message, blockedBy: null });
});

test("a summary that opencode makes for itself is no answer", () => {
  const step = (messageID: string): object => ({ type: "step_start", sessionID: "ses_1", part: { messageID } });
  const said = (messageID: string, text: string): object => ({
    type: "text",
    sessionID: "ses_1",
    part: { messageID, text },
  });
  const stop = { type: "step_finish", sessionID: "ses_1", part: { reason: "stop" } };
  const tooLong = { type: "error", sessionID: "ses_1", error: { name: "ContextOverflowError", data: {} } };
  const summary = [tooLong, step("a"), said("a", "So far: …"), stop];
  const between = told(opencode.turn?.reader(), ...summary);
  expect(between.outcome()).toBeNull();
  const answered = told(between, step("b"), said("b", "It is "), said("b", "done."), stop);
  expect(answered.outcome()).toBeNull();
  // It exits with 1 after a summary.
  expect(answered.outcomeAtEnd(1, "")).toEqual({ kind: "answer", text: "It is done.", session: "ses_1" });
  const empty = told(opencode.turn?.reader(), ...summary, step("b"), stop);
  expect(empty.outcomeAtEnd(1, "")).toMatchObject({ kind: "failed", why: "it ended without an answer" });
});

test("an agent that qwen's own has started does not speak for it", () => {
  const said = (text: string, parent: string | null): object => ({
    type: "assistant",
    session_id: "s",
    parent_tool_use_id: parent,
    message: { content: [{ type: "text", text }] },
  });
  const reader = qwen.turn?.reader();
  const lines = [said("mine", null), said("its", "call_1")].map((line) => `${JSON.stringify(line)}\n`).join("");
  expect(reader?.push(lines)).toEqual([{ kind: "text", text: "mine" }]);
});
